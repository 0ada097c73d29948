import assert from 'node:assert/strict';
import { test } from 'node:test';
import { permissions } from '../../src/access/permission.ts';
import { addKey } from '../support/api-key.ts';
import { ManagementClient, openManagedShop } from '../support/management-client.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url, worker: false });
const { owner, path, shop } = await openManagedShop(database, service);
const policy = `${path}/policy`;

test('ASVS 4.0.3 4.1.3: a key, whatever its scopes, decides nothing about the people of its account', async () => {
  const key = new ManagementClient(
    service,
    await addKey(database, shop.id, { scopes: permissions }),
  );
  const before = await owner.get(policy);
  const refused = await key.put(policy, { peopleNetworks: ['192.0.2.0/24'] });
  assert.equal(refused.status, 403, refused.text);
  assert.match(String(refused.body.detail), /policy:write .*API keys can’t have it/);
  assert.deepEqual((await owner.get(policy)).body, before.body);
});

test('ASVS 4.0.3 4.1.3: a key with account:write renames the account, but can’t have its mail copied', async () => {
  const scopes = ['account:read', 'account:write'] as const;
  const key = new ManagementClient(service, await addKey(database, shop.id, { scopes }));
  const refused = await key.put(path, { name: 'Shop', archiveAddress: 'archive@evil.test' });
  assert.equal(refused.status, 403, refused.text);
  assert.deepEqual(
    (refused.body.errors as { field: string }[]).map(({ field }) => field),
    ['archiveAddress'],
  );
  const before = (await owner.get(path)).body;
  assert.equal(before.archiveAddress, '');
  const renamed = await key.put(path, { ...before, name: 'Renamed' });
  assert.equal(renamed.status, 200, 'what GET returned can be put back');
});
