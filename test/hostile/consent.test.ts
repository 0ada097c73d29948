import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { routeTable } from '../../src/operating/management/route-table.ts';
import { addKey } from '../support/api-key.ts';
import { tokenByConsent } from '../support/consent.ts';
import {
  ManagementClient,
  openManagedShop,
  signInToManagement,
} from '../support/management-client.ts';
import { apply } from '../support/manifest-world.ts';
import { SendClient } from '../support/send-client.ts';
import { password, SessionWorld } from '../support/session-world.ts';
import { getToken } from '../support/shop.ts';
import { TestBrowser } from '../support/test-browser.ts';
import { newAccountId, openSharedShop } from '../support/test-shop.ts';
import { waitFor } from '../support/wait-for.ts';

const victim = await openSharedShop({ worker: false });
const { database, service } = victim;
const attacker = await openManagedShop(database, service, newAccountId());

test('RFC 9700 2.3, ASVS 4.0.3 4.1.3: an access token can send, but not call the management API', async () => {
  const token = await tokenByConsent(
    service,
    victim.shop.owner.email,
    attacker.shop.integration,
    victim.shop.id,
  );
  assert.equal((await new SendClient(service, token, victim.shop.id).send()).status, 200);
  const client = new ManagementClient(service, token);
  for (const path of [
    '/lists/l-none/export',
    '/users',
    '/keys',
    '/messages',
    '/suppressions-export',
  ])
    assert.equal((await client.get(`${victim.path}${path}`)).status, 403, path);
  const key = await client.post(`${victim.path}/keys`, { name: 'k', scopes: ['lists:read'] });
  assert.equal(key.status, 403);
  const owner = await client.put(`${victim.path}/users/${attacker.shop.owner.email}`, {
    role: 'owner',
  });
  assert.equal(owner.status, 403);
});

test('RFC 9700 2.3: no access token works for any management API endpoint', async () => {
  const token = await getToken(service, victim.shop);
  const client = new ManagementClient(service, token);
  for (const { method, path, access } of routeTable) {
    if (access === 'public') continue;
    const filled = path
      .replace(':accountId', victim.shop.id)
      .replaceAll(/:\w+/g, '019a0000-0000-7000-8000-000000000000');
    const { status } = await client.call(method, filled, method === 'GET' ? undefined : {});
    assert.equal(status, 403, `${method} ${path}`);
  }
});

test('ASVS 4.0.3 4.1.3: an API key can’t get permissions reserved for people, and an older key with them can’t use them', async () => {
  const response = await victim.owner.post(`${victim.path}/keys`, {
    name: 'k',
    scopes: ['users:write'],
  });
  assert.equal(response.status, 422);
  assert.match(response.text, /scopes/);
  const earlier = await addKey(database, victim.shop.id, {
    scopes: ['users:write', 'keys:write', 'privacy:read', 'lists:read'],
  });
  const client = new ManagementClient(service, earlier);
  assert.equal((await client.get(`${victim.path}/lists`)).status, 200);
  const person = { name: 'New', role: 'owner' };
  assert.equal((await client.put(`${victim.path}/users/new@shop.test`, person)).status, 403);
  assert.equal((await client.get(`${victim.path}/keys`)).status, 403);
  assert.equal((await client.get(`${victim.path}/people/a@b.test`)).status, 403);
});

/** A person of the shop with this role who created a key. */
async function personWithKey(role: 'owner' | 'developer') {
  const person = await new SessionWorld(database, victim.shop.id).addPerson({ accounts: [] });
  await saveMembership(database.kysely, {
    accountId: victim.shop.id,
    personId: person.id,
    role,
  });
  const client = await signInToManagement(service, person.email);
  const made = await client.post(`${victim.path}/keys`, { name: 'k', scopes: ['messages:send'] });
  assert.equal(made.status, 201, made.text);
  const sender = new SendClient(service, String(made.body.key), victim.shop.id);
  assert.equal((await sender.send()).status, 200);
  return { person, path: `${victim.path}/users/${person.email}`, sender };
}

function ended(sender: SendClient): Promise<unknown> {
  return waitFor('the key to end', async () => (await sender.send()).status === 401);
}

test('ASVS 4.0.3 4.1.5, 3.3.3: removing, demoting or disabling a person revokes their keys', async () => {
  const removed = await personWithKey('owner');
  assert.equal((await victim.owner.delete(removed.path)).status, 204);
  await ended(removed.sender);

  const demoted = await personWithKey('owner');
  assert.equal((await victim.owner.put(demoted.path, { role: 'developer' })).status, 200);
  await ended(demoted.sender);

  const disabled = await personWithKey('developer');
  await database.pool.query('update person set disabled_at = now() where id = $1', [
    disabled.person.id,
  ]);
  await ended(disabled.sender);
});

test('a promotion keeps a person’s keys', async () => {
  const promoted = await personWithKey('developer');
  assert.equal((await victim.owner.put(promoted.path, { role: 'owner' })).status, 200);
  assert.equal((await promoted.sender.send()).status, 200);
});

test('an owner can take over keys in the request that removes or demotes their creator', async () => {
  const removed = await personWithKey('developer');
  const ownerEmail = victim.shop.owner.email;
  assert.equal((await victim.owner.delete(`${removed.path}?keysTo=${ownerEmail}`)).status, 204);
  assert.equal((await removed.sender.send()).status, 200);
  const { rows } = await database.pool.query(
    'select count(*)::integer as n from api_key where account_id = $1 and created_by = $2',
    [victim.shop.id, victim.shop.owner.id],
  );
  assert.ok(rows[0].n > 0);

  const demoted = await personWithKey('owner');
  const nobody = await victim.owner.put(`${demoted.path}?keysTo=nobody@shop.test`, {
    role: 'viewer',
  });
  assert.equal(nobody.status, 422, nobody.text);
  const themselves = await victim.owner.put(`${demoted.path}?keysTo=${demoted.person.email}`, {
    role: 'viewer',
  });
  assert.equal(themselves.status, 422, themselves.text);
  assert.equal((await demoted.sender.send()).status, 200);
});

test('ASVS 4.0.3 4.1.1: the access policy of an account binds consents to apps', async () => {
  const { shop } = await openManagedShop(database, service, newAccountId());
  const { clientId } = attacker.shop.integration;
  const browser = new TestBrowser(service.url);
  await browser.submit(await browser.open('/me'), { email: shop.owner.email, password });
  const query = new URLSearchParams({
    scope: 'PRODUCTION',
    response_type: 'code',
    client_id: clientId,
  });
  const ask = () => browser.open(`/authorize?${query}`);
  const page = await ask();
  assert.ok(page.text.includes(shop.id));
  const set = (policy: object) =>
    apply(database, { accounts: [{ id: shop.id, name: `Shop ${shop.id}`, policy }] });
  await set({ peopleNetworks: ['192.0.2.0/24'] });
  const refused = await waitFor('the policy to apply', async () => {
    const { location } = await ask();
    return location?.includes('error=access_denied') ? location : false;
  });
  assert.match(new URL(refused).searchParams.get('error_description') ?? '', /access policy/);
  const forced = await browser.submit(page, { decision: 'allow', account: shop.id });
  assert.ok(!forced.location?.includes('code='), String(forced.location));
  await set({ signInHours: 1 });
  await database.pool.query(
    `update browser_session set authenticated_at = now() - interval '2 hours' where person_id = $1`,
    [shop.owner.id],
  );
  await waitFor('the policy to apply', async () => (await ask()).url.includes('/sign-in/confirm?'));
});
