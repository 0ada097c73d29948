import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountTopic } from '../../../src/accounts/account/account-store.ts';
import { setOperator } from '../../../src/accounts/account/person-store.ts';
import { announceChange } from '../../../src/base/database/announce.ts';
import { addPasskey } from '../../support/add-passkey.ts';
import { addKey } from '../../support/api-key.ts';
import { ManagementClient, signInToManagement } from '../../support/management-client.ts';
import { SendClient } from '../../support/send-client.ts';
import { SessionWorld } from '../../support/session-world.ts';
import { getToken } from '../../support/shop.ts';
import { startTestService } from '../../support/test-service.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const environment = { TRUST_PROXY: '127.0.0.1' };
const {
  database,
  service,
  owner,
  path,
  shop,
  as,
  databaseUrl: url,
} = await openTestShop({ worker: false, environment });
const viewer = await as('viewer');
const policy = `${path}/policy`;
const nothing = {
  signIn: 'own-choice',
  secondFactor: 'own-choice',
  signInHours: null,
  peopleNetworks: [],
  programNetworks: [],
  securityAddress: '',
};

/** The policy without the caller's check, as the command line sets it. */
async function setPolicy(columns: string): Promise<void> {
  await database.pool.query(`update account set ${columns} where id = $1`, [shop.id]);
  await announceChange(database.kysely, accountTopic, shop.id);
}

test('a policy is set, read, recorded and taken back; only owners change it', async () => {
  assert.deepEqual((await owner.get(policy)).body, nothing);
  const set = await owner.put(policy, { signInHours: 8, programNetworks: ['0.0.0.0/0', '::/0'] });
  assert.equal(set.status, 200, set.text);
  assert.deepEqual(set.body, {
    ...nothing,
    signInHours: 8,
    programNetworks: ['0.0.0.0/0', '::/0'],
  });
  const { items } = (await owner.get(`${path}/audit?kind=policy_changed`)).body as {
    items: { detail: { changed: string } }[];
  };
  assert.equal(items[0]?.detail.changed, 'signInHours, programNetworks');
  assert.equal((await owner.put(path, { name: 'Renamed' })).status, 200);
  assert.equal((await owner.get(policy)).body.signInHours, 8, 'other changes keep it');
  assert.equal((await viewer.put(policy, {})).status, 403);
  assert.deepEqual((await owner.put(policy, {})).body, nothing);
});

test('wrong values are refused with their field', async () => {
  for (const [body, field] of [
    [{ secondFactor: 'nobody' }, 'secondFactor'],
    [{ signInHours: 0 }, 'signInHours'],
    [{ peopleNetworks: ['10.0.0.0/33'] }, 'peopleNetworks'],
    [{ programNetworks: ['example.com'] }, 'programNetworks'],
    [{ securityAddress: 'security' }, 'securityAddress'],
    [{ programNetworks: Array(101).fill('10.0.0.1') }, 'programNetworks'],
  ] as const) {
    const { status, body: response } = await owner.put(policy, body);
    assert.equal(status, 422);
    assert.match((response.errors as { field: string }[])[0]?.field ?? '', new RegExp(field));
  }
});

test('a change that would lock its author out is refused, and says what to do first', async () => {
  for (const [body, field] of [
    [{ secondFactor: 'owners' }, 'secondFactor'],
    [{ secondFactor: 'everyone' }, 'secondFactor'],
    [{ peopleNetworks: ['192.0.2.0/24'] }, 'peopleNetworks'],
  ] as const) {
    const refused = await owner.put(policy, body);
    assert.equal(refused.status, 422, refused.text);
    const [error] = refused.body.errors as { field: string; reason: string }[];
    assert.equal(error?.field, field);
    assert.match(error?.reason ?? '', /would lock you out/);
  }
  assert.deepEqual((await owner.get(policy)).body, nothing);
});

test('ASVS 4.0.3 2.2.4: people without the second factor that the account asks for are refused, but not programs', async () => {
  const service1 = await as('service');
  await setPolicy(`second_factor = 'owners'`);
  const refused = await waitFor('the policy', async () => {
    const found = await owner.get(path);
    return found.status === 403 && found;
  });
  assert.equal(refused.body.type, '/problems/second-factor-required');
  assert.match(String(refused.body.detail), /\/me\/second-factor/);
  assert.equal((await viewer.get(path)).status, 200);
  await setPolicy(`second_factor = 'everyone'`);
  await waitFor('the policy', async () => (await viewer.get(path)).status === 403);
  assert.notEqual(
    (await service1.get(`${path}/messages`)).body.type,
    '/problems/second-factor-required',
  );
  const sender = new SendClient(service, await getToken(service, shop));
  assert.equal((await sender.send()).status, 200);
  const person = await new SessionWorld(database, shop.id).addPerson();
  await database.pool.query(`update membership set role = 'owner' where person_id = $1`, [
    person.id,
  ]);
  const safe = await signInToManagement(service, person.email);
  await addPasskey(database, person.id);
  assert.equal((await safe.put(policy, { secondFactor: 'everyone' })).status, 200);
  await safe.put(policy, {});
  await waitFor('the end of it', async () => (await viewer.get(path)).status === 200);
});

test('people and programs are refused outside their networks, on every node', async () => {
  const key = await addKey(database, shop.id, { scopes: ['account:read', 'messages:send'] });
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const program = new ManagementClient(service, key);
  await setPolicy(
    `people_networks = '{198.51.100.0/24}', program_networks = '{192.0.2.0/24,2001:db8::/32}'`,
  );
  await waitFor('the policy', async () => (await owner.get(path)).status === 403);
  assert.equal((await owner.get(path, from('198.51.100.7'))).status, 200);
  assert.equal((await owner.get(path, from('192.0.2.7'))).status, 403);
  assert.equal((await program.get(path, from('192.0.2.7'))).status, 200);
  assert.equal((await program.get(path, from('2001:db8::1'))).status, 200);
  assert.equal((await program.get(path, from('198.51.100.7'))).status, 403);
  const sender = new SendClient(service, await getToken(service, shop));
  const refused = await sender.send();
  assert.equal(refused.status, 401, refused.text);
  assert.match(refused.headers.get('www-authenticate') ?? '', /insufficient_scope/);
  await setPolicy(`people_networks = '{}', program_networks = '{}'`);
  await waitFor('the end of it', async () => (await sender.send()).status === 200);
});

test('people confirm who they are again after the hours of the policy', async () => {
  await setPolicy('sign_in_hours = 8');
  const other = await signInToManagement(service, shop.owner.email);
  assert.equal((await other.get(path)).status, 200);
  await database.pool.query(
    `update browser_session set authenticated_at = authenticated_at - interval '8 hours'`,
  );
  const asked = await waitFor('the policy', async () => {
    const response = await other.get(path);
    return response.status === 403 && response;
  });
  assert.deepEqual([asked.status, asked.body.type], [403, '/problems/confirmation-required']);
  await setPolicy('sign_in_hours = null');
  await waitFor('the end of it', async () => (await other.get(path)).status === 200);
});

test('ASVS 4.0.3 4.3.1: operators need a second factor, unless mail stays on this machine', async () => {
  const relay = { ...environment, DELIVERY: 'relay', SMTP_URL: 'smtp://127.0.0.1:9' };
  const real = await startTestService({ databaseUrl: url, worker: false, environment: relay });
  const person = await new SessionWorld(database, shop.id).addPerson();
  await setOperator(database.kysely, person.id, true);
  const operations = '/installation/accounts';
  assert.equal(
    (await (await signInToManagement(service, person.email)).get(operations)).status,
    200,
  );
  const client = await signInToManagement(real, person.email);
  const refused = await client.get(operations);
  assert.deepEqual([refused.status, refused.body.type], [403, '/problems/second-factor-required']);
  await addPasskey(database, person.id);
  assert.equal((await client.get(operations)).status, 200);
});
