import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSharedShop } from '../../support/test-shop.ts';

const { owner, makeOperator } = await openSharedShop({ worker: false });

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
