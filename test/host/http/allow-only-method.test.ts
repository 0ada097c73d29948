import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openShop } from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';

const { database, url } = await createTestDatabase();
await openShop(database);
const service = await startTestService({ databaseUrl: url, worker: false });

test('RFC 9110 15.5.6: an unsupported method on a path of the contract gets a 405 with the allowed one', async () => {
  for (const [path, allowed, methods] of [
    ['/ete/v1/email/46100/t-0001', 'POST', ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']],
    ['/ete/v1/email/46100/t-0001/batch', 'POST', ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']],
    ['/ete/v1/message/46100/x', 'GET, HEAD', ['POST', 'PATCH']],
    ['/api/1/list/', 'GET, HEAD', ['POST', 'OPTIONS']],
  ] as const)
    for (const method of methods) {
      const response = await fetch(service.url + path, { method });
      assert.equal(response.status, 405, `${method} ${path}`);
      assert.equal(response.headers.get('allow'), allowed);
      assert.ok(response.headers.has('x-request-id'));
    }
});
