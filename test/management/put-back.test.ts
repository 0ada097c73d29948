import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShapingStore } from '../../src/delivery/shaping/shaping-store.ts';
import { newId } from '../../src/foundation/ids.ts';
import { routeTable } from '../../src/management/route-table.ts';
import { openManagedShop } from '../support/management-client.ts';
import type { TextResponse } from '../support/send-request.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({
  databaseUrl: url,
  environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' },
});
const store = new ShapingStore(database, newId(), Date.now);
await store.heartbeat([
  { name: 'yahoo', label: 'Yahoo', startRate: 5, startConnections: 10, demand: 0, sent: 0 },
]);
const { owner, path, shop, as, makeOperator } = await openManagedShop(database, service);
await makeOperator();

/** What exists once, by its path in the route table. */
async function makeResources(): Promise<Map<string, string>> {
  const put = async (where: string, body: object): Promise<string> => {
    const made = await owner.put(where, body);
    assert.ok(made.status === 200 || made.status === 201, `${where}: ${made.text}`);
    return where;
  };
  const account = '/accounts/:accountId';
  await as('viewer');
  const users = await owner.get(`${path}/users`);
  const user = (users.body.items as { email: string; role: string }[]).find(
    ({ role }) => role === 'viewer',
  );
  const webhook = await owner.post(`${path}/webhooks`, {
    url: 'http://127.0.0.1:9/hook',
    kinds: ['delivered'],
  });
  await owner.put(`${path}/integrations/back`, {
    name: 'Back',
    redirectUri: 'https://back.test/cb',
    grants: ['password', 'refresh_token'],
  });
  return new Map([
    ['/installation/accounts/:accountId', `/installation/accounts/${shop.id}`],
    ['/installation/people/:email', `/installation/people/${user?.email}`],
    [
      '/installation/mail-templates/:mailKind',
      await put('/installation/mail-templates/password-link', {
        subject: 'Your password',
        html: '<p><a href="{{Link}}">Set it</a></p>',
        text: 'Set it: {{Link}}',
      }),
    ],
    [
      '/installation/receivers/:receiver/settings',
      await put('/installation/receivers/yahoo/settings', { rate: 5 }),
    ],
    [
      '/installation/integrations/:clientId/allowance',
      await put('/installation/integrations/back/allowance', { perHour: 9 }),
    ],
    [account, path],
    [`${account}/users/:email`, `${path}/users/${user?.email}`],
    [
      `${account}/senders/:address`,
      await put(`${path}/senders/back@shop.test`, { displayNames: ['Back'] }),
    ],
    [`${account}/domains/:domain`, await put(`${path}/domains/back.test`, {})],
    [`${account}/domains/:domain/settings`, `${path}/domains/back.test/settings`],
    [`${account}/integrations/:clientId`, `${path}/integrations/back`],
    [`${account}/templates/:templateId`, await put(`${path}/templates/back`, { name: 'Back' })],
    [
      `${account}/templates/:templateId/draft`,
      await put(`${path}/templates/back/draft`, {
        subject: 'Hello {{Name}}',
        html: '<p>{{Name}}</p>',
      }),
    ],
    [`${account}/lists/:listId`, await put(`${path}/lists/l-back`, { name: 'Back' })],
    [
      `${account}/lists/:listId/contacts/:email`,
      await put(`${path}/lists/l-back/contacts/c@people.test`, { fields: { Name: 'C' } }),
    ],
    [
      `${account}/suppressions/:address`,
      await put(`${path}/suppressions/s@people.test`, { reason: 'manual' }),
    ],
    [`${account}/webhooks/:webhookId`, `${path}/webhooks/${webhook.body.id}`],
    [
      `${account}/saved-filters/:filterName`,
      await put(`${path}/saved-filters/back`, { query: {} }),
    ],
    [`${account}/retention-rule`, `${path}/retention-rule`],
    [`${account}/policy`, `${path}/policy`],
    [
      `${account}/sign-in-provider`,
      await put(`${path}/sign-in-provider`, {
        name: 'Back',
        issuer: 'https://back.test',
        clientId: 'back',
        clientSecret: 'a secret',
        members: [{ role: 'viewer', group: 'readers' }],
      }),
    ],
  ]);
}

const resources = await makeResources();

test('every resource with a PUT that has a body is covered here', () => {
  const puts = routeTable
    .filter(({ method, operation }) => method === 'PUT' && operation.body !== undefined)
    .filter(({ operation }) => operation.accepts === undefined);
  assert.deepEqual(puts.map((route) => route.path).sort(), [...resources.keys()].sort());
});

/** A draft says when it was saved. */
function withoutTraces({ body }: TextResponse): object {
  const { changedAt: _, ...rest } = body;
  return rest;
}

for (const [pattern, where] of resources)
  test(`what GET ${pattern} gives can be put back, and changes nothing`, async () => {
    const before = await owner.get(where);
    assert.equal(before.status, 200, before.text);
    const tag = before.headers.get('etag') ?? '';
    const put = await owner.put(where, before.body, { 'if-match': tag });
    assert.equal(put.status, 200, put.text);
    assert.deepEqual(withoutTraces(await owner.get(where)), withoutTraces(before));
  });

test('a read-only member that is changed is refused and named, and nothing is written', async () => {
  const where = `${path}/lists/l-back`;
  const before = await owner.get(where);
  const refused = await owner.put(where, { ...before.body, name: 'New', size: 7, createdAt: null });
  assert.equal(refused.status, 422, refused.text);
  assert.deepEqual((refused.body.errors as { field: string }[]).map(({ field }) => field).sort(), [
    'createdAt',
    'size',
  ]);
  assert.deepEqual((await owner.get(where)).body, before.body);
  const renamed = await owner.put(where, { ...before.body, name: 'New' });
  assert.equal(renamed.body.name, 'New');
  const unknown = await owner.put(where, { ...before.body, colour: 'red' });
  assert.equal((unknown.body.errors as { field: string }[])[0]?.field, 'colour');
  const deep = `{"name":"Deep","size":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  const nested = await owner.call('PUT', where, deep, { 'content-type': 'application/json' });
  assert.equal(nested.status, 422, nested.text);
  // A new resource has none of them.
  const fresh = await owner.put(`${path}/lists/l-fresh`, { name: 'Fresh', size: 0 });
  assert.equal(fresh.status, 422);
  assert.equal((await owner.get(`${path}/lists/l-fresh`)).status, 404);
});
