import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addPasskey } from '../../support/add-passkey.ts';
import { openManagedShop } from '../../support/management-client.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { openTestShop } from '../../support/test-shop.ts';

const environment = {
  PUBLIC_URL: 'https://mail.service.test',
  SMTP_HOSTNAME: 'mail.service.test',
  DELIVERY: 'direct',
  DIRECT_SOURCES: '192.0.2.10=mail1.service.test,bulk/192.0.2.11=mail2.service.test',
};
const {
  database,
  owner,
  path,
  as,
  makeOperator,
  shop: account,
} = await openTestShop({ worker: false, environment });
await makeOperator();
await addPasskey(database, account.owner.id);
const shop = `${path}/domains/shop.test`;
const settings = `${shop}/settings`;

function errorsOf({ body }: { readonly body: Readonly<Record<string, unknown>> }): unknown {
  return body.errors;
}

test('a sending domain is added with keys, read with its records, and removed', async () => {
  const domain = `${path}/domains/Mail.Shop.test`;
  const made = await owner.put(domain, {});
  assert.equal(made.status, 201, made.text);
  assert.equal(made.body.state, 'pending');
  assert.equal((await owner.put(domain, {}, { 'if-none-match': '*' })).status, 412);
  const again = await owner.put(domain, {});
  assert.equal(again.status, 200, again.text);
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

test('ASVS 4.0.3 4.1.3: only who may read domains sees the pools and the host name of the installation', async () => {
  const { body: seen } = await owner.get('/installation/settings');
  assert.equal((seen.sourcePools as unknown[]).length, 2);
  assert.equal(seen.hostname, 'mail.service.test');
  const { status, body } = await (await as(undefined)).get('/installation/settings');
  assert.equal(status, 200);
  assert.deepEqual([body.sourcePools, body.hostname, body.deliveryAllow], [[], null, []]);
});

test('domain settings are updated, and omitted ones stay unchanged', async () => {
  await owner.put(shop, {});
  const before = await owner.get(settings);
  assert.deepEqual(before.body, { trackingHost: null, sourcePool: 'default', warmUp: null });
  const warmUp = { from: '2026-12-01', plan: [100, 200] };
  const set = await owner.put(settings, { sourcePool: 'bulk', warmUp });
  assert.equal(set.status, 200, set.text);
  const tracked = await owner.put(settings, { trackingHost: 'Links.shop.test' });
  const all = { trackingHost: 'links.shop.test', sourcePool: 'bulk', warmUp };
  assert.deepEqual(tracked.body, all);
  const shown = await owner.get(shop);
  assert.equal(shown.body.sourcePool, 'bulk');
  assert.ok((shown.body.records as { name: string }[]).some((one) => /^links\./.test(one.name)));
  const cleared = await owner.put(settings, { trackingHost: null, warmUp: null });
  assert.deepEqual(cleared.body, { trackingHost: null, sourcePool: 'bulk', warmUp: null });
  const planned = await owner.put(settings, { warmUpGoal: 400 });
  const { plan } = planned.body.warmUp as { plan: number[] };
  assert.deepEqual([plan[0], plan[2], plan[4]], [50, 100, 200]);
});

test('RFC 9110 13.1.1: a change based on outdated settings is rejected', async () => {
  const tag = String((await owner.get(settings)).headers.get('etag'));
  const changed = await owner.put(settings, { sourcePool: 'default' }, { 'if-match': tag });
  assert.equal(changed.status, 200, changed.text);
  const late = await owner.put(settings, { sourcePool: 'bulk' }, { 'if-match': tag });
  assert.equal(late.status, 412);
  const next = { 'if-match': String(changed.headers.get('etag')) };
  assert.equal((await owner.put(settings, { sourcePool: 'bulk' }, next)).status, 200);
});

test('invalid settings are rejected with field and reason', async () => {
  for (const [body, error] of [
    [
      { sourcePool: 'gold' },
      { field: 'sourcePool', reason: 'must be a pool of DIRECT_SOURCES: default, bulk' },
    ],
    [
      { trackingHost: 'links.other.test' },
      { field: 'trackingHost', reason: 'must be a subdomain of shop.test' },
    ],
    [
      { trackingHost: 'shop.test' },
      { field: 'trackingHost', reason: 'must be a subdomain of shop.test' },
    ],
    [
      { warmUp: null, warmUpGoal: 100 },
      { field: 'warmUpGoal', reason: 'can’t be combined with warmUp' },
    ],
  ] as const) {
    const response = await owner.put(settings, body);
    assert.equal(response.status, 422, response.text);
    assert.deepEqual(errorsOf(response), [error]);
  }
  assert.equal((await owner.put(`${path}/domains/other.test/settings`, {})).status, 404);
  assert.equal((await owner.get(`${path}/domains/other.test/settings`)).status, 404);
});

test('a tracking host requires PUBLIC_URL', async () => {
  const inner = await createTestDatabase();
  const plain = await startTestService({ databaseUrl: inner.url, worker: false });
  const other = await openManagedShop(inner.database, plain);
  await other.owner.put(`${other.path}/domains/shop.test`, {});
  const response = await other.owner.put(`${other.path}/domains/shop.test/settings`, {
    trackingHost: 'links.shop.test',
  });
  assert.deepEqual(errorsOf(response), [
    {
      field: 'trackingHost',
      reason: 'requires PUBLIC_URL to be set, because the tracking host points to it',
    },
  ]);
});

test('developers can set the tracking host, only operators the pool, and viewers nothing', async () => {
  const developer = await as('developer');
  const viewer = await as('viewer');
  const host = { trackingHost: 'go.shop.test' };
  assert.equal((await viewer.put(settings, host)).status, 403);
  assert.equal((await developer.put(settings, host)).status, 200);
  const { sourcePool } = (await owner.get(settings)).body;
  assert.equal((await developer.put(settings, { sourcePool })).status, 200);
  const refused = await developer.put(settings, { sourcePool: 'default' });
  assert.equal(refused.status, 403);
  assert.match(refused.text, /Only operators can change sourcePool/);
  assert.equal((await owner.get(settings)).body.sourcePool, sourcePool);
});

test('changes are audited with the changed members; no-op changes are not', async () => {
  const count = async () =>
    (
      await database.pool.query<{ changed: string }>(
        `select detail ->> 'changed' as changed from audit_event
         where kind = 'domain_changed' and detail ->> 'id' = 'shop.test' order by at desc`,
      )
    ).rows.map(({ changed }) => changed);
  const before = await count();
  await owner.put(settings, { sourcePool: 'default', trackingHost: null });
  assert.deepEqual(await count(), ['trackingHost, sourcePool', ...before]);
  await owner.put(settings, { sourcePool: 'default', trackingHost: null });
  assert.equal((await count()).length, before.length + 1);
});
