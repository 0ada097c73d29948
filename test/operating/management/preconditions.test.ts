import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createPerson } from '../../../src/accounts/account/person-store.ts';
import { newId } from '../../../src/base/values/ids.ts';
import { routeTable } from '../../../src/operating/management/route-table.ts';
import { ShapingStore } from '../../../src/sending/delivery/shaping/shaping-store.ts';
import { newAccountId, openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, owner, path, shop, makeOperator } = await openSharedShop({
  worker: false,
});
await makeOperator();
await owner.put(`${path}/lists/l-kept`, { name: 'Kept' });
await owner.put(`${path}/templates/t-kept`, { name: 'Kept' });
await owner.put(`${path}/domains/settled.test`, {});
for (const name of ['disabled', 'operator'])
  await createPerson(database.kysely, {
    email: `${name}@shop.test`,
    name,
    passwordHash: undefined,
  });
await new ShapingStore(database, newId(), Date.now).heartbeat([
  { name: 'yahoo', label: 'Yahoo', startRate: 5, startConnections: 10, demand: 0, sent: 0 },
]);
const webhook = await owner.post(`${path}/webhooks`, {
  url: 'https://hooks.example/',
  kinds: ['delivered'],
});
const content = { subject: 'Hello', html: '<p>Hello</p>', sender: 'orders@shop.test', fields: {} };
const csv = 'address,email\nann@people.test,ann@people.test\n';
const person = { name: 'New', role: 'viewer' };
const signInProvider = {
  name: 'New',
  issuer: 'https://login.shop.test',
  clientId: 'signalpost',
  clientSecret: 'secret',
  members: [],
};

/** One resource for each path with PUT. */
interface Resource {
  readonly at: string;
  /** It always exists. */
  readonly there?: true;
  readonly first: unknown;
  readonly second?: unknown;
}

const resources: Readonly<Record<string, Resource>> = {
  '/installation/accounts/:accountId': {
    at: `/installation/accounts/${newAccountId()}`,
    first: { name: 'New' },
    second: { name: 'Newer', suspended: true },
  },
  '/accounts/:accountId/policy': {
    at: `${path}/policy`,
    there: true,
    first: { signInHours: 8 },
    second: { signInHours: 9 },
  },
  '/installation/people/:email': {
    at: '/installation/people/disabled@shop.test',
    there: true,
    first: { disabled: false },
    second: { disabled: true },
  },
  '/installation/operators/:email': {
    at: '/installation/operators/operator@shop.test',
    first: undefined,
  },
  '/installation/mail-templates/:mailKind': {
    at: '/installation/mail-templates/password-link',
    first: { subject: 'One', html: '<p>{{Link}}</p>' },
    second: { subject: 'Two', html: '<p>{{Link}}</p>' },
  },
  '/installation/integrations/:clientId/allowance': {
    at: `/installation/integrations/${shop.integration.clientId}/allowance`,
    there: true,
    first: { perHour: 5 },
    second: { perHour: 6 },
  },
  '/installation/receivers/:receiver/settings': {
    at: '/installation/receivers/yahoo/settings',
    there: true,
    first: { rate: null },
    second: { rate: 2, connections: 3 },
  },
  '/accounts/:accountId': { at: path, there: true, first: { name: 'A' }, second: { name: 'B' } },
  '/accounts/:accountId/sign-in-provider': {
    at: `${path}/sign-in-provider`,
    first: signInProvider,
    second: { ...signInProvider, name: 'Newer' },
  },
  '/accounts/:accountId/users/:email': {
    at: `${path}/users/new@shop.test`,
    first: person,
    second: { role: 'marketer' },
  },
  '/accounts/:accountId/senders/:address': {
    at: `${path}/senders/other@shop.test`,
    first: { displayNames: ['One'] },
    second: { displayNames: ['Two'] },
  },
  '/accounts/:accountId/domains/:domain': {
    at: `${path}/domains/shop.test`,
    first: {},
  },
  '/accounts/:accountId/domains/:domain/settings': {
    at: `${path}/domains/settled.test/settings`,
    there: true,
    first: { warmUp: null },
    second: { warmUpGoal: 400 },
  },
  '/accounts/:accountId/integrations/:clientId': {
    at: `${path}/integrations/app`,
    first: { name: 'App' },
    second: { name: 'App', disabled: true },
  },
  '/accounts/:accountId/templates/:templateId': {
    at: `${path}/templates/t-new`,
    first: { name: 'New' },
    second: { name: 'Newer' },
  },
  '/accounts/:accountId/templates/:templateId/draft': {
    at: `${path}/templates/t-kept/draft`,
    first: content,
    second: { ...content, subject: 'Bye' },
  },
  '/accounts/:accountId/lists/:listId': {
    at: `${path}/lists/l-new`,
    first: { name: 'New' },
    second: { name: 'Newer' },
  },
  '/accounts/:accountId/lists/:listId/contacts/:email': {
    at: `${path}/lists/l-kept/contacts/zoe@people.test`,
    first: { fields: {} },
    second: { fields: { Name: 'Zoe' } },
  },
  '/accounts/:accountId/lists/:listId/imports/:importId': {
    at: `${path}/lists/l-kept/imports/${randomUUID()}`,
    first: csv,
  },
  '/accounts/:accountId/queue/pauses/:destination': {
    at: `${path}/queue/pauses/slow.test`,
    first: undefined,
  },
  '/accounts/:accountId/suppressions/:address': {
    at: `${path}/suppressions/no@people.test`,
    first: { reason: 'manual' },
    second: { reason: 'complaint' },
  },
  '/accounts/:accountId/suppressions-imports/:importId': {
    at: `${path}/suppressions-imports/${randomUUID()}`,
    first: csv,
  },
  '/accounts/:accountId/webhooks/:webhookId': {
    at: `${path}/webhooks/${webhook.body.id}`,
    there: true,
    first: { url: 'https://hooks.example/', kinds: ['delivered'] },
    second: { url: 'https://hooks.example/other', kinds: ['delivered'] },
  },
  '/accounts/:accountId/saved-filters/:filterName': {
    at: `${path}/saved-filters/new`,
    first: { query: { tag: 'one' } },
    second: { query: { tag: 'two' } },
  },
  '/accounts/:accountId/retention-rule': {
    at: `${path}/retention-rule`,
    there: true,
    first: { contentDays: null, addressDays: null, engagementDays: null },
    second: { contentDays: 7, addressDays: null, engagementDays: null },
  },
};

const stale = '"nobody-read-this-tag-"';
const puts = routeTable.filter(({ method }) => method === 'PUT');

function put(at: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const type = { 'content-type': typeof body === 'string' ? 'text/csv' : 'application/json' };
  return owner.call('PUT', at, body, { ...(body === undefined ? {} : type), ...headers });
}

/** Its ETag once background changes have finished, such as an import. */
async function tagOf(at: string): Promise<string> {
  return waitFor('the resource to settle', async () => {
    const { status, body, headers } = await owner.get(at);
    assert.equal(status, 200, at);
    return body.state !== 'running' && (headers.get('etag') ?? '');
  });
}

for (const { path: pattern } of puts) {
  test(`PUT ${pattern} honors If-None-Match on create and If-Match on update`, async () => {
    const resource = resources[pattern];
    assert.ok(resource, 'this path has no test resource');
    const { at, there, first, second = first } = resource;
    if (there === undefined) {
      assert.equal((await put(at, first, { 'if-match': '*' })).status, 412, 'nothing to change');
      const made = await put(at, first, { 'if-none-match': '*' });
      assert.ok([201, 202].includes(made.status), made.text);
    }
    const tag = await tagOf(at);
    assert.equal((await put(at, second, { 'if-none-match': '*' })).status, 412);
    assert.equal((await put(at, second, { 'if-match': stale })).status, 412);
    assert.equal(await tagOf(at), tag, 'a refused change changes nothing');
    const changed = await put(at, second, { 'if-match': tag });
    assert.ok([200, 202].includes(changed.status), changed.text);
    const now = await tagOf(at);
    assert.equal(now === tag, second === first);
    if (changed.status === 200) assert.equal(changed.headers.get('etag'), now);
  });
}

const removals = routeTable.filter(
  ({ method, path: pattern }) =>
    method === 'DELETE' && puts.some((route) => route.path === pattern),
);

for (const { path: pattern } of removals) {
  test(`DELETE ${pattern} honors If-Match`, async () => {
    const at = resources[pattern]?.at ?? '';
    const tag = await tagOf(at);
    const refused = await owner.delete(at, { 'if-match': stale });
    assert.equal(refused.status, 412, refused.text);
    assert.equal(await tagOf(at), tag);
    assert.equal((await owner.delete(at, { 'if-match': tag })).status, 204);
    assert.equal((await owner.delete(at)).status, 404);
  });
}

test('publishing honors the ETag of the draft', async () => {
  const template = `${path}/templates/t-published`;
  await owner.put(template, { name: 'Published' });
  const { headers } = await owner.put(`${template}/draft`, content);
  await owner.put(`${template}/draft`, { ...content, subject: 'Somebody else’s' });
  const seen = { 'if-match': headers.get('etag') ?? '' };
  assert.equal((await owner.post(`${template}/publish`, {}, seen)).status, 412);
  const now = { 'if-match': await tagOf(`${template}/draft`) };
  assert.equal((await owner.post(`${template}/publish`, {}, now)).status, 200);
});

test('a rollback fails after a concurrent publish', async () => {
  const template = `${path}/templates/t-rolled`;
  await owner.put(template, { name: 'Rolled' });
  const publish = async (subject: string) => {
    await owner.put(`${template}/draft`, { ...content, subject });
    assert.equal((await owner.post(`${template}/publish`, {})).status, 200);
  };
  await publish('One');
  await publish('Two');
  const seen = { 'if-match': await tagOf(template) };
  await publish('Somebody else’s');
  const back = { version: 1 };
  assert.equal((await owner.post(`${template}/roll-back`, back, seen)).status, 412);
  assert.equal((await owner.get(template)).body.publishedVersion, 3);
  const now = { 'if-match': await tagOf(template) };
  assert.equal((await owner.post(`${template}/roll-back`, back, now)).status, 200);
  assert.equal((await owner.get(template)).body.publishedVersion, 1);
});

test('of two concurrent imports with the same id, one runs and the other fails', async () => {
  const at = `${path}/lists/l-kept/imports/${randomUUID()}`;
  const both = [csv, csv].map((file) => put(at, file, { 'if-none-match': '*' }));
  const statuses = (await Promise.all(both)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [202, 412]);
});
