import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportManifest, noFiles } from '../../../src/operating/manifest/export-manifest.ts';
import { apply, changed, manifestProblemTexts } from '../../support/manifest-world.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const { database } = await createTestDatabase();

const ann = { email: 'ann@shop.test', name: 'Ann', role: 'owner' };
const shop = (members: object = {}) => ({
  accounts: [{ id: 'shop', name: 'Shop', users: [ann], ...members }],
});

async function newEvents(): Promise<{ kind: string; detail: Record<string, unknown> }[]> {
  const { rows } = await database.pool.query<{ kind: string; detail: Record<string, unknown> }>(
    `with seen as (delete from audit_event where account_id = 'shop' and remote_address = 'command line' returning *)
     select kind, detail from seen where kind <> 'manifest_applied' order by id`,
  );
  return rows;
}

test('an apply audits its changes, and nothing if there are none', async () => {
  await apply(database, shop());
  assert.deepEqual(
    (await newEvents()).map(({ kind }) => kind),
    ['account_created', 'user_created'],
  );
  await apply(database, shop());
  assert.deepEqual(await newEvents(), []);
});

test('a suspension by manifest is audited with what changed', async () => {
  await apply(database, shop({ suspended: true, quota: { perHour: 10 } }));
  const [event, ...others] = await newEvents();
  assert.deepEqual(others, []);
  assert.equal(event?.kind, 'account_changed');
  assert.equal(event?.detail.changed, 'suspended, quota');
  await apply(database, shop({ suspended: false }), { dryRun: true });
  assert.deepEqual(await newEvents(), [], 'a dry run leaves no trace');
});

test('a quota is set, kept if omitted, exported, and removed by an empty one', async () => {
  const quota = async () => (await exportManifest(database.kysely, noFiles)).accounts[0]?.quota;
  await apply(database, shop({ quota: { perHour: 100, perDay: 1_000 } }));
  await apply(database, shop());
  assert.deepEqual(await quota(), { perHour: 100, perDay: 1_000 });
  await apply(database, shop({ quota: { perDay: 7 } }));
  assert.deepEqual(await quota(), { perDay: 7 });
  assert.deepEqual(changed(await apply(database, shop({ quota: {} }))), ['changed account shop']);
  assert.equal(await quota(), undefined);
  assert.deepEqual(await manifestProblemTexts(apply(database, shop({ quota: { perHour: 1.5 } }))), [
    'accounts[0].quota.perHour must be a whole number',
  ]);
});

test('an archive address is set, kept if omitted, exported, and removed by an empty one', async () => {
  const archive = async () =>
    (await exportManifest(database.kysely, noFiles)).accounts[0]?.archiveAddress;
  await apply(database, shop({ archiveAddress: 'Archive@shop.test' }));
  await apply(database, shop());
  assert.equal(await archive(), 'Archive@shop.test');
  assert.deepEqual(changed(await apply(database, shop({ archiveAddress: '' }))), [
    'changed account shop',
  ]);
  assert.equal(await archive(), undefined);
  assert.deepEqual(await manifestProblemTexts(apply(database, shop({ archiveAddress: 'none' }))), [
    'accounts[0].archiveAddress is not a valid email address: it has no @',
  ]);
});

test('operators are set by the manifest and exported', async () => {
  const users = (operator: boolean) => shop({ users: [{ ...ann, operator }] });
  assert.deepEqual(changed(await apply(database, users(true))), ['changed user ann@shop.test']);
  assert.deepEqual(changed(await apply(database, shop())), [], 'omitted members stay');
  const exported = await exportManifest(database.kysely, noFiles);
  assert.equal(exported.accounts[0]?.users?.[0]?.operator, true);
  await assert.rejects(apply(database, users(false)), /last operator/);
  await database.pool.query(
    `insert into person (id, email, name, password_hash, operator)
     values (gen_random_uuid(), 'other@shop.test', 'Other', 'hash', true)`,
  );
  await apply(database, users(false));
  const { rows } = await database.pool.query('select email from person where operator');
  assert.deepEqual(rows, [{ email: 'other@shop.test' }]);
});
