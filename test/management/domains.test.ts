import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openManagedShop } from '../support/management-client.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url, roles: ['http'] });
const { owner, path } = await openManagedShop(database, service);

test('a sending domain is added with keys, read with its records, and removed', async () => {
  const domain = `${path}/domains/Mail.Shop.test`;
  const made = await owner.put(domain, {});
  assert.equal(made.status, 201, made.text);
  assert.equal(made.body.state, 'pending');
  const again = await owner.put(domain, { warmUp: { from: '2026-12-01', plan: [100, 200] } });
  assert.equal(again.status, 200, again.text);
  assert.deepEqual(again.body.warmUp, { from: '2026-12-01', plan: [100, 200] });
  const read = await owner.get(domain);
  const records = read.body.records as { kind: string; expected: string; state: string }[];
  const key = records.find(({ kind }) => kind === 'dkim');
  assert.match(String(key?.expected), /^v=DKIM1; k=rsa; p=/);
  assert.equal(key?.state, 'unknown');
  const rotated = await owner.post(`${domain}/rotate-keys`);
  const keys = (rotated.body.records as { kind: string }[]).filter(({ kind }) => kind === 'dkim');
  assert.equal(keys.length, 2);
  assert.equal((await owner.put(`${path}/domains/nodots`, {})).status, 404);
  assert.equal((await owner.delete(domain)).status, 204);
  assert.equal((await owner.get(domain)).status, 404);
});
