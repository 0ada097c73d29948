import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openManagedShop } from '../support/management-client.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url, worker: false });
const { owner, makeOperator } = await openManagedShop(database, service);

test('only operators learn how the installation is backed up', async () => {
  assert.equal((await owner.get('/installation/backup')).status, 403);
  await makeOperator();
  const { status, body } = await owner.get('/installation/backup');
  assert.equal(status, 200);
  assert.deepEqual(body, {
    ok: true,
    finding: 'not checked (external PostgreSQL)',
    advice: null,
    lastAt: null,
  });
});
