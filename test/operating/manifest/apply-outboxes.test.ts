import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PublicNetworks } from '../../../src/base/network/public-networks.ts';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { exportManifest, noFiles } from '../../../src/operating/manifest/export-manifest.ts';
import { listSources, openSource } from '../../../src/outbox/source/outbox-source-store.ts';
import { apply, changed, manifestProblemTexts } from '../../support/manifest-world.ts';
import { runInProcess } from '../../support/run-command.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { testKey } from '../../support/test-service.ts';

const { database, url: databaseUrl } = await createTestDatabase();
const accountId = 'shop' as AccountId;
const environment = { OUTBOX_URL: 'postgres://reader:the-password@db.shop.test/shop' };
const orders = { id: 'orders', table: 'email_outbox', url: `\${OUTBOX_URL}` };

function shop(...outboxSources: readonly object[]) {
  return { accounts: [{ id: accountId, name: 'Shop', outboxSources }] };
}

/** @returns the changes */
async function applied(...sources: readonly object[]): Promise<string[]> {
  return changed(await apply(database, shop(...sources), { environment, prune: true }));
}

async function storedUrl(id = 'orders'): Promise<string | undefined> {
  return (await openSource(database.kysely, testKey, accountId, id))?.url;
}

/** Since the last call, without those of the account. */
async function newEvents(): Promise<string[]> {
  const { rows } = await database.pool.query<{ kind: string; detail: object }>(
    'with seen as (delete from audit_event returning *) select kind, detail from seen order by id',
  );
  assert.doesNotMatch(JSON.stringify(rows), /password/);
  return rows.map(({ kind, detail }) => `${kind} ${JSON.stringify(detail)}`);
}

test('a source is created once, with its URL from the environment, and changed by what the file has', async () => {
  assert.deepEqual(await applied(orders), ['created account shop', 'created outbox_source orders']);
  assert.equal(await storedUrl(), environment.OUTBOX_URL);
  const { rows } = await database.pool.query('select sealed_url from outbox_source');
  assert.deepEqual(await applied(orders), []);
  assert.deepEqual((await database.pool.query('select sealed_url from outbox_source')).rows, rows);
  assert.deepEqual(await applied({ ...orders, rowsPerSecond: 7, after: 'delete' }), [
    'changed outbox_source orders',
  ]);
  assert.deepEqual(await applied(orders), [], 'omitted members keep their value');
  const [source] = await listSources(database.kysely, accountId);
  assert.deepEqual(
    [source?.table, source?.server, source?.rowsPerSecond, source?.after, source?.answers],
    ['email_outbox', 'db.shop.test:5432/shop', 7, 'delete', null],
  );
});

test('a password that changes is stored; without a URL, the stored one stays', async () => {
  const other = {
    ...environment,
    OUTBOX_URL: 'postgres://reader:other-password@db.shop.test/shop',
  };
  const result = await apply(database, shop(orders), { environment: other });
  assert.deepEqual(changed(result), ['changed outbox_source orders']);
  assert.deepEqual(
    result.flatMap(({ notes }) => notes),
    ['new URL'],
  );
  const { url: _, ...kept } = orders;
  assert.deepEqual(await applied({ ...kept, rowsPerSecond: 9 }), ['changed outbox_source orders']);
  assert.equal(await storedUrl(), other.OUTBOX_URL);
});

test('an export has no URL, and applying it changes nothing', async () => {
  const exported = await exportManifest(database.kysely, noFiles);
  assert.deepEqual(exported.accounts[0]?.outboxSources, [
    { id: 'orders', table: 'email_outbox', answers: null, after: 'delete', rowsPerSecond: 9 },
  ]);
  assert.deepEqual(changed(await apply(database, exported)), []);
});

test('mistakes are reported in one run: what is missing, fixed or not allowed', async () => {
  const problems = await manifestProblemTexts(
    applied(
      { ...orders, table: 'other_outbox' },
      { id: 'without-table', url: environment.OUTBOX_URL },
      { id: 'without-url', table: 'email_outbox' },
      { ...orders, id: 'private', url: 'postgres://u:p@10.1.2.3/shop' },
      { ...orders, id: 'wrong', url: 'https://db.shop.test' },
    ),
  );
  assert.match(problems.pop() ?? '', /outboxSources\[4\]\.url must look like postgres:/);
  assert.deepEqual(problems, [
    'accounts[0].outboxSources[0].table can’t be changed. Add another source for another table',
    'accounts[0].outboxSources[1].table is required for a new source',
    'accounts[0].outboxSources[2].url is required for a new source',
    'accounts[0].outboxSources[3].url is in a private network. An operator can allow networks in the setting OUTBOX_NETWORKS',
  ]);
  assert.deepEqual(await manifestProblemTexts(applied(orders, orders)), [
    'accounts[0].outboxSources[1].id duplicates accounts[0].outboxSources[0].id',
  ]);
  assert.deepEqual(await manifestProblemTexts(applied({ ...orders, rowsPerSecond: 5_001 })), [
    'accounts[0].outboxSources[0].rowsPerSecond must be at most 5000',
  ]);
});

test('a private network is for installations whose operator allows it', async () => {
  const manifest = shop({ ...orders, id: 'inside', url: 'postgres://u:p@10.1.2.3/shop' });
  const allowed = { outboxNetworks: new PublicNetworks(['10.0.0.0/8']), dryRun: true };
  assert.deepEqual(changed(await apply(database, manifest, allowed)), [
    'created outbox_source inside',
  ]);
  const { code, err } = await runInProcess(
    ['apply', '-', '--dry-run'],
    {
      DATABASE_URL: databaseUrl,
      SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
      OUTBOX_NETWORKS: '10.0.0.0/8',
    },
    JSON.stringify(manifest),
  );
  assert.equal(code, 0, err);
});

test('each change is audited, without the URL; a dry run and an apply without effect aren’t', async () => {
  await newEvents();
  await apply(database, shop({ ...orders, rowsPerSecond: 10 }), { environment, dryRun: true });
  assert.deepEqual(await newEvents(), []);
  await applied(orders);
  await applied(orders);
  await applied();
  assert.deepEqual(
    (await newEvents()).filter((event) => !event.startsWith('manifest_applied')),
    [
      'outbox_source_changed {"id":"orders","notes":"new URL"}',
      'outbox_source_removed {"id":"orders"}',
    ],
  );
  assert.deepEqual(await listSources(database.kysely, accountId), []);
});
