import assert from 'node:assert/strict';
import { test } from 'node:test';
import { permissions } from '../../src/accounts/access/permission.ts';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { disablePerson } from '../../src/accounts/sign-in/disable-person.ts';
import { addKey } from '../support/api-key.ts';
import { ManagementClient } from '../support/management-client.ts';
import { apply } from '../support/manifest-world.ts';
import { SessionWorld } from '../support/session-world.ts';
import { addSender } from '../support/shop.ts';
import { openTestShop } from '../support/test-shop.ts';

// It looks at the operators of the whole installation.
const { database, service, owner, path, shop, makeOperator } = await openTestShop({
  worker: false,
});
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

test('ASVS 4.0.3 4.1.3: nothing takes the last owner who can sign in from an account', async () => {
  const world = new SessionWorld(database, shop.id);
  const other = await world.addPerson();
  const accountId = shop.id;
  await saveMembership(database.kysely, { accountId, personId: other.id, role: 'owner' });
  const person = (email: string) => `/installation/people/${email}`;
  // The other owner has no way to sign in.
  await database.pool.query('update person set password_hash = null where id = $1', [other.id]);
  const removed = await owner.delete(`${path}/users/${shop.owner.email}`);
  assert.equal(removed.status, 409, removed.text);
  assert.match(removed.text, /no other owner could sign in.*Add another owner first/);
  const demoted = await owner.put(`${path}/users/${shop.owner.email}`, { role: 'viewer' });
  assert.equal(demoted.status, 409, demoted.text);
  const manifest = {
    accounts: [{ id: shop.id, name: 'Shop', users: [{ email: other.email, role: 'owner' }] }],
  };
  await assert.rejects(
    apply(database, manifest, { prune: true }),
    /accounts\[0\]\.users would leave no owner who can sign in/,
  );
  await assert.rejects(
    apply(database, {
      accounts: [{ id: shop.id, name: 'Shop', policy: { signIn: 'single-sign-on' } }],
    }),
    /accounts\[0\]\.users would leave no owner/,
  );
  await makeOperator();
  await database.kysely.transaction().execute(async (transaction) => {
    const settings = { operatorSecondFactor: false, provider: undefined };
    const refusal = await disablePerson(transaction, settings, shop.owner.id);
    assert.match(refusal ?? '', /last owner of the account .*Add another owner there first/);
  });
  assert.equal((await owner.get(person(shop.owner.email))).body.disabled, false);
  assert.equal((await owner.get(path)).status, 200, 'and their session goes on');
  assert.equal((await owner.delete(`${path}/users/${other.email}`)).status, 204);
});

test('ASVS 4.0.3 4.1.3: the last operator who can sign in stays one', async () => {
  await makeOperator();
  const other = await new SessionWorld(database, shop.id).addPerson();
  const operator = (email: string) => `/installation/operators/${email}`;
  assert.equal((await owner.put(operator(other.email), undefined)).status, 201);
  await database.pool.query('update person set password_hash = null where id = $1', [other.id]);
  const refused = await owner.delete(operator(shop.owner.email));
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.text, /This is the last operator: .*Make another user an operator first/);
  const settings = { operatorSecondFactor: false, provider: undefined };
  const manifest = {
    accounts: [
      {
        id: shop.id,
        name: 'Shop',
        users: [{ email: shop.owner.email, operator: false, role: 'owner' }],
      },
    ],
  };
  await assert.rejects(apply(database, manifest), /This is the last operator/);
  await database.kysely.transaction().execute(async (transaction) => {
    assert.equal(await disablePerson(transaction, settings, other.id), undefined);
  });
  assert.equal((await owner.delete(operator(other.email))).status, 204);
});

test('ASVS 4.0.3 4.1.3: owners whose second factor is their provider’s keep the provider, and may require what it checks', async () => {
  const provider = `${path}/sign-in-provider`;
  const set = await owner.put(provider, {
    ...{ name: 'Own', issuer: 'https://mfa.test', clientId: 'own', clientSecret: 'a secret' },
    members: [],
  });
  assert.equal(set.status, 201, set.text);
  // As after sign-ins with it, once without and once with several factors.
  const { rows } = await database.pool.query(
    `with identity as (
       insert into provider_identity (id, provider_account, issuer, subject, person_id, linked, created_at)
       values (gen_random_uuid(), $1, 'https://mfa.test', 'mfa', $2, true, now())),
     before as (select id, password_hash from person where id = $2)
     update person p set password_hash = null, operator = false from before where p.id = before.id
     returning before.password_hash`,
    [shop.id, shop.owner.id],
  );
  const required = { signIn: 'single-sign-on', secondFactor: 'owners' };
  const manifest = { accounts: [{ id: shop.id, name: 'Shop', policy: required }] };
  await assert.rejects(apply(database, manifest), /would leave no owner who can sign in/);
  await database.pool.query(`update provider_identity set second_factor = true`);
  await apply(database, manifest);
  await database.pool.query(
    `update browser_session set provider_second_factor = true, provider_identity_id = (select id from provider_identity)
     where person_id = $1`,
    [shop.owner.id],
  );
  const refused = await owner.delete(provider);
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.text, /would lock all owners out/);
  await apply(database, { accounts: [{ id: shop.id, name: 'Shop', policy: {} }] });
  await database.pool.query('update person set password_hash = $2 where id = $1', [
    shop.owner.id,
    rows[0]?.password_hash,
  ]);
  await database.pool.query('update browser_session set provider_identity_id = null');
  assert.equal((await owner.delete(provider)).status, 204);
});

test('a policy that no owner can meet, or a provider’s end that locks them out, is refused', async () => {
  const provider = `${path}/sign-in-provider`;
  const set = await owner.put(provider, {
    name: 'Own',
    issuer: 'https://own.test',
    clientId: 'own',
    clientSecret: 'a secret',
    members: [],
  });
  assert.equal(set.status, 201, set.text);
  await database.pool.query(
    `insert into provider_identity (id, provider_account, issuer, subject, person_id, linked, created_at)
     values (gen_random_uuid(), $1, 'https://own.test', 's', $2, true, now())`,
    [shop.id, shop.owner.id],
  );
  await database.pool.query('update person set operator = false where id = $1', [shop.owner.id]);
  const { rows } = await database.pool.query(
    `with before as (select id, password_hash from person where id = $1)
     update person p set password_hash = null from before where p.id = before.id returning before.password_hash`,
    [shop.owner.id],
  );
  const refused = await owner.delete(provider);
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.text, /would lock all owners out.*signIn of the access policy/);
  const { callbackUrl: _, signInUrl: __, ...body } = set.body;
  const other = { ...body, issuer: 'https://new.test', clientSecret: 'another secret' };
  assert.equal((await owner.put(provider, other)).status, 409);
  assert.equal((await owner.put(provider, { ...body, name: 'Renamed' })).status, 200);
  await database.pool.query('update person set password_hash = $2 where id = $1', [
    shop.owner.id,
    rows[0]?.password_hash,
  ]);
  assert.equal((await owner.delete(provider)).status, 204);
});

test('ASVS 4.0.3 1.2.3: copies go only to an address that the account has proven to read', async () => {
  const unproven = await owner.put(path, { name: 'Shop', archiveAddress: 'archive@evil.test' });
  assert.equal(unproven.status, 422, unproven.text);
  assert.match(
    unproven.text,
    /archiveAddress isn’t confirmed\. Verify its domain under Domains, or/,
  );
  await addSender(database, shop.id, 'archive@shop.test');
  const set = await owner.put(path, { name: 'Shop', archiveAddress: 'archive@shop.test' });
  assert.equal(set.status, 200, set.text);
  const { rows } = await database.pool.query(
    `select to_address from system_mail where facts ->> 'event' = 'archive-address-changed'`,
  );
  assert.deepEqual(rows, [{ to_address: shop.owner.email }]);
  const again = await owner.put(path, { name: 'Renamed', archiveAddress: 'archive@shop.test' });
  assert.equal(again.status, 200, 'one that is set stays');
});
