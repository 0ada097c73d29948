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
const hook = { url: 'https://hooks.example/', kinds: ['delivered'] };
const webhook = await owner.post(`${path}/webhooks`, hook);
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

const outboxSource = { table: 'email_outbox', url: 'postgres://u:p@db.shop.test/shop' };
const rule = { contentDays: null, addressDays: null, engagementDays: null };

/** A resource for a path with PUT: the IDs in its path after the account, separated by blanks, and one or two bodies. */
type Resource = readonly [ids: string, first: unknown, second?: unknown];

const ofInstallation: Readonly<Record<string, Resource>> = {
  'accounts/:accountId': [newAccountId(), { name: 'New' }, { name: 'Newer', suspended: true }],
  'people/:email': ['disabled@shop.test', { disabled: false }, { disabled: true }],
  'operators/:email': ['operator@shop.test', undefined],
  'mail-templates/:mailKind': [
    'password-link',
    { subject: 'One', html: '<p>{{Link}}</p>' },
    { subject: 'Two', html: '<p>{{Link}}</p>' },
  ],
  'integrations/:clientId/allowance': [shop.integration.clientId, { perHour: 5 }, { perHour: 6 }],
  'receivers/:receiver/settings': ['yahoo', { rate: null }, { rate: 2, connections: 3 }],
};

const ofAccount: Readonly<Record<string, Resource>> = {
  '': ['', { name: 'A' }, { name: 'B' }],
  policy: ['', { signInHours: 8 }, { signInHours: 9 }],
  'sign-in-provider': ['', signInProvider, { ...signInProvider, name: 'Newer' }],
  'users/:email': ['new@shop.test', person, { role: 'marketer' }],
  'senders/:address': ['other@shop.test', { displayNames: ['One'] }, { displayNames: ['Two'] }],
  'domains/:domain': ['shop.test', {}],
  'domains/:domain/settings': ['settled.test', { warmUp: null }, { warmUpGoal: 400 }],
  'integrations/:clientId': ['app', { name: 'App' }, { name: 'App', disabled: true }],
  'templates/:templateId': ['t-new', { name: 'New' }, { name: 'Newer' }],
  'templates/:templateId/draft': ['t-kept', content, { ...content, subject: 'Bye' }],
  'lists/:listId': ['l-new', { name: 'New' }, { name: 'Newer' }],
  'lists/:listId/contacts/:email': [
    'l-kept zoe@people.test',
    { fields: {} },
    { fields: { Name: 'Zoe' } },
  ],
  'lists/:listId/imports/:importId': [`l-kept ${randomUUID()}`, csv],
  'queue/pauses/:destination': ['slow.test', undefined],
  'suppressions/:address': ['no@people.test', { reason: 'manual' }, { reason: 'complaint' }],
  'suppressions-imports/:importId': [randomUUID(), csv],
  'webhooks/:webhookId': [
    String(webhook.body.id),
    hook,
    { ...hook, url: 'https://hooks.example/other' },
  ],
  'outbox-sources/:sourceId': ['new', outboxSource, { ...outboxSource, rowsPerSecond: 9 }],
  'saved-filters/:filterName': ['new', { query: { tag: 'one' } }, { query: { tag: 'two' } }],
  'retention-rule': ['', rule, { ...rule, contentDays: 7 }],
};

/** Resources that exist before the first PUT. */
const existing = new Set([
  '/installation/people/:email',
  '/installation/integrations/:clientId/allowance',
  '/installation/receivers/:receiver/settings',
  '/accounts/:accountId',
  '/accounts/:accountId/policy',
  '/accounts/:accountId/domains/:domain/settings',
  '/accounts/:accountId/webhooks/:webhookId',
  '/accounts/:accountId/retention-rule',
]);

function resourceOf(pattern: string) {
  const global = pattern.startsWith('/installation/');
  const name = pattern.replace(/^\/(installation|accounts\/:accountId)\/?/, '');
  const resource = (global ? ofInstallation : ofAccount)[name];
  assert.ok(resource, 'this path has no test resource');
  const [ids, first, second = first] = resource;
  const values = [...(global ? [] : [shop.id]), ...ids.split(' ')];
  const at = pattern.replaceAll(/:\w+/g, () => values.shift() ?? '');
  return { at, exists: existing.has(pattern), first, second };
}

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
    const { at, exists, first, second } = resourceOf(pattern);
    if (!exists) {
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
    const { at } = resourceOf(pattern);
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
