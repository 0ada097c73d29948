import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSharedShop } from '../../support/test-shop.ts';

const { service, shop } = await openSharedShop({ worker: false });

test('RFC 9110 15.5.6: an unsupported method on a path of the contract gets a 405 with the allowed one', async () => {
  for (const [path, allowed, methods] of [
    [`/ete/v1/email/${shop.id}/t-0001`, 'POST', ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']],
    [`/ete/v1/email/${shop.id}/t-0001/batch`, 'POST', ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']],
    [`/ete/v1/message/${shop.id}/x`, 'GET, HEAD', ['POST', 'PATCH']],
    ['/api/1/list/', 'GET, HEAD', ['POST', 'OPTIONS']],
  ] as const)
    for (const method of methods) {
      const response = await fetch(service.url + path, { method });
      assert.equal(response.status, 405, `${method} ${path}`);
      assert.equal(response.headers.get('allow'), allowed);
      assert.ok(response.headers.has('x-request-id'));
    }
});
