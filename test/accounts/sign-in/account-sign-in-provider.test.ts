import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMemberships, saveMembership } from '../../../src/accounts/account/membership-store.ts';
import { findPersonByEmail, setOperator } from '../../../src/accounts/account/person-store.ts';
import { fetchFromProvider } from '../../../src/accounts/sign-in/single-sign-on/provider-fetch.ts';
import { DnsClient } from '../../../src/base/dns/dns-client.ts';
import { HostNames } from '../../../src/base/dns/host-names.ts';
import { PublicNetworks } from '../../../src/base/network/public-networks.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { addKey } from '../../support/api-key.ts';
import { IdentityProvider } from '../../support/identity-provider.ts';
import { ManagementClient, openManagedShop } from '../../support/management-client.ts';
import { password, SessionWorld } from '../../support/session-world.ts';
import {
  providerUrlOf,
  sessionHeaders,
  signInWithProvider,
} from '../../support/sign-in-with-provider.ts';
import { TestBrowser, type VisitedPage } from '../../support/test-browser.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';

const { url, database, clock } = await createTestDatabase();
/** The installation's provider, and the one of an account, whose owners may be hostile. */
const [honest, hostile] = [await IdentityProvider.start(), await IdentityProvider.start()];
const service = await startTestService({
  databaseUrl: url,
  clock,
  environment: {
    WEBHOOK_NETWORKS: '127.0.0.0/8',
    OIDC_ISSUER: honest.issuer,
    OIDC_CLIENT_ID: 'signalpost',
    OIDC_CLIENT_SECRET: 'a client secret',
    OIDC_MEMBERS: '7000:developer:engineering',
  },
});
const { owner, path, shop, as } = await openManagedShop(database, service);
const other = new SessionWorld(database, '7000');
await other.addAccount();
const account = shop.id;
const providerPath = `${path}/sign-in-provider`;
const settings = {
  name: 'Shop ID',
  issuer: hostile.issuer,
  clientId: 'shop-client',
  clientSecret: 'a secret of the shop',
  members: [
    { role: 'developer', group: 'engineering' },
    { role: 'viewer', domain: 'staff.test' },
  ],
};
// Never checked again, because their records don't exist.
await database.pool.query(
  `insert into sending_domain (account_id, domain, state, return_path, next_check_at)
   values ($1, 'staff.test', 'verified', 'bounce.staff.test', 'infinity'),
     ($1, 'unproven.test', 'pending', 'bounce.unproven.test', 'infinity')`,
  [account],
);
async function start(): Promise<string> {
  const { rows } = await database.pool.query(
    'select link from account_sign_in_provider where account_id = $1',
    [account],
  );
  return `/sign-in/oidc?link=${rows[0]?.link}&next=/me`;
}
let serial = 0;

function newUser(claims: Readonly<Record<string, unknown>> = {}) {
  serial += 1;
  const email = `staff${serial}@staff.test`;
  return {
    subject: `staff-${serial}`,
    claims: { email, email_verified: true, name: `Staff ${serial}`, ...claims },
  };
}

await hostile.change({
  clients: [
    {
      id: 'shop-client',
      secret: 'a secret of the shop',
      redirectUri: `${service.url}/sign-in/oidc/callback/${account}`,
    },
  ],
  user: newUser(),
});
await honest.change({
  clients: [
    {
      id: 'signalpost',
      secret: 'a client secret',
      redirectUri: `${service.url}/sign-in/oidc/callback`,
    },
  ],
  user: newUser(),
});

async function signIn(user: ReturnType<typeof newUser>, browser?: TestBrowser) {
  const begin = { user, start: await start() };
  return signInWithProvider(service, hostile, { ...begin, ...(browser && { browser }) });
}

function assertRefused(page: VisitedPage, text: RegExp): void {
  assert.match(page.url, /\/sign-in\?/);
  assert.match(page.text, text);
}

async function rolesOf(email: string): Promise<Record<string, string>> {
  const person = await findPersonByEmail(database.kysely, email);
  assert.ok(person, `${email} is a person`);
  const list = await readMemberships(database.kysely, { personId: person.id, reach: 'all' });
  return Object.fromEntries(list.map(({ accountId, role }) => [accountId, role]));
}

/** A management client with a browser's session. */
function managing(browser: TestBrowser): ManagementClient {
  return new ManagementClient(service, undefined, sessionHeaders(browser, service.url));
}

/** Signs in with the password and connects the account's provider. */
async function connect(email: string, user: ReturnType<typeof newUser>): Promise<VisitedPage> {
  const browser = new TestBrowser(service.url);
  const me = await browser.submit(await browser.open('/me'), { email, password });
  await hostile.change({ user });
  const page = await browser.submit(me, { account }, '/me/providers/connect');
  return browser.open(await hostile.authorize(providerUrlOf(page) ?? ''));
}

test('owners set an account’s provider; its secret is write-only', async () => {
  assert.equal((await owner.get(providerPath)).status, 404);
  const { clientSecret: _, ...incomplete } = settings;
  assert.equal((await owner.put(providerPath, incomplete)).status, 422);
  const set = await owner.put(providerPath, settings);
  assert.equal(set.status, 201, set.text);
  assert.deepEqual(set.body, {
    name: 'Shop ID',
    issuer: hostile.issuer,
    clientId: 'shop-client',
    trustEmail: false,
    members: [
      { role: 'developer', group: 'engineering', domain: null },
      { role: 'viewer', group: null, domain: 'staff.test' },
    ],
    callbackUrl: `${service.url}/sign-in/oidc/callback/${account}`,
    signInUrl: `${service.url}${(await start()).replace('/me', '%2Fconsole')}`,
  });
  assert.equal((await owner.put(providerPath, incomplete)).status, 200, 'keeps the secret');
  const { rows } = await database.pool.query('select client_secret from account_sign_in_provider');
  assert.doesNotMatch(String(rows[0].client_secret), /secret of the shop/);
  const developer = await as('developer');
  assert.equal((await developer.get(providerPath)).status, 200);
  assert.equal((await developer.put(providerPath, settings)).status, 403);
  const key = await addKey(database, account);
  const program = new ManagementClient(service, key);
  assert.equal((await program.put(providerPath, settings)).status, 403);
});

test('ASVS 4.0.3 3.7.1: an owner confirms who they are before changing the provider', async () => {
  await clock.advance(10 * 60_000);
  for (const response of [
    await owner.put(providerPath, settings),
    await owner.delete(providerPath),
  ]) {
    assert.equal(response.status, 403);
    assert.equal(response.body.type, '/problems/confirmation-required');
  }
  await clock.reset();
});

test('ASVS 4.0.3 5.2.6: an account’s issuer is a public https address', async () => {
  for (const [change, field] of [
    [{ issuer: 'http://id.shop.test' }, 'issuer'],
    [{ issuer: 'https://10.0.0.1' }, 'issuer'],
    [{ issuer: 'https://[::ffff:10.0.0.1]/' }, 'issuer'],
    [{ issuer: 'https://id.test/?x' }, 'issuer'],
    [{ issuer: 'https://user:word@id.test' }, 'issuer'],
    [{ issuer: 'file:///etc/passwd' }, 'issuer'],
    [{ members: [{ role: 'viewer', domain: 'unproven.test' }] }, 'members[0].domain'],
    [{ members: [{ role: 'viewer', domain: 'gmail.com' }] }, 'members[0].domain'],
    [{ members: [{ role: 'viewer', domain: 'staff.test', group: 'a' }] }, 'members[0]'],
    [{ members: [{ role: 'viewer' }] }, 'members[0]'],
    [{ members: [{ role: 'service', group: 'a' }] }, 'members[0]'],
  ] as const) {
    const { status, body } = await owner.put(providerPath, { ...settings, ...change });
    assert.equal(status, 422, JSON.stringify(change));
    assert.ok(
      (body.errors as { field: string }[])[0]?.field.startsWith(field),
      JSON.stringify(body),
    );
  }
});

test('ASVS 4.0.3 5.2.6, 12.6.1: requests to an account’s provider reach public addresses only', async () => {
  const networks = new PublicNetworks([]);
  const hostNames = new HostNames(new DnsClient([]), systemClock);
  const options = { method: 'GET', headers: {}, body: undefined };
  for (const target of [
    hostile.issuer,
    'https://127.0.0.1/jwks',
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:7f00:1]/',
    'https://localhost/',
    'https://id.localhost/',
    'file:///etc/passwd',
    'https://user:word@id.test/',
  ])
    await assert.rejects(
      fetchFromProvider(target, options, networks, hostNames),
      /can’t be used/,
      target,
    );
});

test('an account’s provider brings in people with an address in its verified domain', async () => {
  const user = newUser({ groups: ['engineering'] });
  const { page, browser } = await signIn(user);
  assert.equal(page.url, `${service.url}/me`);
  assert.deepEqual(await rolesOf(user.claims.email), { [account]: 'developer' });
  assert.equal((await managing(browser).get(path)).status, 200);
});

test('RFC 9700 2.1: a hostile provider brings in nobody with an address of another domain', async () => {
  for (const email of ['ceo@other.test', 'ceo@unproven.test', 'ceo@sub.staff.test']) {
    const user = newUser({ email, groups: ['engineering'] });
    assertRefused((await signIn(user)).page, /isn’t in a verified domain of this account/);
    assert.equal(await findPersonByEmail(database.kysely, email), undefined);
  }
  const unverified = newUser({ email_verified: false });
  assertRefused((await signIn(unverified)).page, /hasn’t verified your email address/);
});

test('OIDC Core 5.7: a hostile provider signs in nobody by the address they have here', async () => {
  const person = await other.addPerson();
  await database.pool.query(`update person set email = 'victim@staff.test' where id = $1`, [
    person.id,
  ]);
  const user = newUser({ email: 'victim@staff.test', groups: ['engineering'] });
  const { page, browser } = await signIn(user);
  assertRefused(page, /already have a sign-in here/);
  assert.match((await browser.open('/me')).url, /\/sign-in\?/);
  assert.deepEqual(await rolesOf('victim@staff.test'), { 7000: 'developer' });
});

test('OIDC Core 5.7: a subject of the installation’s provider means nothing at an account’s, and vice versa', async () => {
  const user = newUser({ email: 'engineer@corp.test', groups: ['engineering'] });
  const inside = await signInWithProvider(service, honest, { user });
  assert.equal(inside.page.url, `${service.url}/me`);
  assertRefused((await signIn(user)).page, /isn’t in a verified domain of this account/);
});

test('RFC 9700 2.1: a hostile provider no longer signs in a person who joined another account or became an operator', async () => {
  for (const gains of ['account', 'operator'] as const) {
    const user = newUser();
    await signIn(user);
    const person = await findPersonByEmail(database.kysely, user.claims.email);
    assert.ok(person);
    if (gains === 'operator') await setOperator(database.kysely, person.id, true);
    else
      await saveMembership(database.kysely, {
        accountId: '7000' as AccountId,
        personId: person.id,
        role: 'owner',
      });
    const { page, browser } = await signIn(user);
    assertRefused(page, /connect your provider/);
    assert.match((await browser.open('/me')).url, /\/sign-in\?/);
    await setOperator(database.kysely, person.id, false);
  }
});

test('ASVS 4.0.3 4.1.3: a session of an account’s provider reaches that account only, even if the person connected it', async () => {
  const person = await other.addPerson({ accounts: ['7000', account] });
  const user = newUser();
  assert.equal((await connect(person.email, user)).url, `${service.url}/me?done=connected`);
  const { page, browser } = await signIn(user);
  assert.equal(page.url, `${service.url}/me`);
  assert.match(page.text, new RegExp(person.email));
  const client = managing(browser);
  assert.equal((await client.get(path)).status, 200);
  assert.equal((await client.get('/accounts/7000')).status, 404);
  assert.equal((await client.get('/installation/people')).status, 403);
  const me = (await client.get('/me')).body as { operator: boolean; accounts: { id: string }[] };
  assert.equal(me.operator, false);
  assert.deepEqual(
    me.accounts.map(({ id }) => id),
    [account],
  );
  assert.equal((await browser.open('/inbox/api/messages')).status, 403);
  assert.equal((await client.get('/inbox/messages')).status, 403);
});

test('ASVS 4.0.3 4.1.3: a session of an account’s provider consents for that account only', async () => {
  const person = await other.addPerson({ accounts: ['7000', account] });
  const client = await other.addIntegration();
  const user = newUser();
  await connect(person.email, user);
  const { browser } = await signIn(user);
  const query = new URLSearchParams({
    response_type: 'code',
    scope: 'PRODUCTION',
    client_id: client.clientId,
    state: 'x',
  });
  const page = await browser.open(`/authorize?${query}`);
  assert.match(page.text, new RegExp(`value="${account}"`));
  assert.doesNotMatch(page.text, /value="7000"/);
  const tried = await browser.submit(page, { account: '7000', decision: 'allow' });
  assert.equal(tried.location, undefined);
});

test('ASVS 4.0.3 3.7.1: a session of an account’s provider changes nothing about how the person signs in', async () => {
  const person = await other.addPerson({ accounts: ['7000', account] });
  const user = newUser();
  await connect(person.email, user);
  const { browser, page } = await signIn(user);
  for (const target of ['/me/second-factor', '/me/passkeys/new', '/me/password'])
    assert.equal((await browser.open(target)).status, 403, target);
  const csrf = page.forms[0]?.fields.csrf ?? '';
  for (const target of [
    '/me/second-factor/begin',
    '/me/second-factor/recovery-codes',
    '/me/passkeys',
    '/me/password',
    '/me/providers/connect',
    '/me/providers/disconnect',
  ]) {
    const response = await browser.request(target, { csrf, account: '', password, new: 'another' });
    assert.equal(response.status, 403, target);
  }
});

test('RFC 9700 4.4.2: a response of one provider is worth nothing at another’s callback', async () => {
  const mixed = new TestBrowser(service.url);
  const sent = await mixed.request(await start());
  const callback = await hostile.authorize(providerUrlOf(sent) ?? '');
  const elsewhere = callback.replace(`/callback/${account}`, '/callback');
  assertRefused(await mixed.open(elsewhere), /expired or was already used/);
  // The attack: the honest provider's code arrives in a sign-in that the browser began with the hostile one.
  const victim = new TestBrowser(service.url);
  const begun = await victim.request(await start());
  const state = new URL(providerUrlOf(begun) ?? '').searchParams.get('state') ?? '';
  const code = 'code-of-the-honest-provider';
  for (const iss of [honest.issuer, undefined]) {
    const response = new URLSearchParams({ code, state, ...(iss && { iss }) });
    const page = await victim.open(`/sign-in/oidc/callback/${account}?${response}`);
    assert.match(page.url, /\/sign-in\?/);
    assert.match((await victim.open('/me')).url, /\/sign-in\?/);
  }
});

test('RFC 9700 4.7: nobody is tricked into connecting another person’s provider', async () => {
  const person = await other.addPerson({ accounts: [account] });
  const victim = new TestBrowser(service.url);
  await victim.submit(await victim.open('/me'), { email: person.email, password });
  const forged = await victim.request('/me/providers/connect', { account, csrf: 'forged' });
  assert.equal(forged.location, `${service.url}/me`);
  // A sign-in flow can't become a connection.
  const attacker = new TestBrowser(service.url);
  await hostile.change({ user: newUser() });
  const sent = await attacker.request(await start());
  const callback = await hostile.authorize(providerUrlOf(sent) ?? '');
  await victim.open(callback);
  const { rows } = await database.pool.query(
    'select 1 from provider_identity where person_id = $1',
    [person.id],
  );
  assert.equal(rows.length, 0);
});

test('people connect a provider and disconnect it, which ends its sessions', async () => {
  const person = await other.addPerson({ accounts: [account] });
  const user = newUser();
  await connect(person.email, user);
  const taken = await other.addPerson({ accounts: [account] });
  const refused = await connect(taken.email, user);
  assert.equal(refused.status, 409);
  assert.match(refused.text, /already connected/);
  const { browser } = await signIn(user);
  const own = new TestBrowser(service.url);
  const me = await own.submit(await own.open('/me'), { email: person.email, password });
  const after = await own.submit(me, {}, '/me/providers/disconnect');
  assert.match(after.text, /Sign-in provider disconnected/);
  assert.match((await browser.open('/me')).url, /\/sign-in\?/);
});

test('ASVS 4.0.3 4.2.1: strangers don’t learn which accounts have a provider', async () => {
  const guesses: Record<string, string>[] = [
    ...[account, '7000', 'unknown', 'no account', '.system'].map((name) => ({ account: name })),
    ...['x', '01890000-0000-7000-8000-000000000000', account].map((link) => ({ link })),
  ];
  for (const guess of guesses) {
    const browser = new TestBrowser(service.url);
    const page = await browser.open(`/sign-in/oidc?${new URLSearchParams(guess)}`);
    assertRefused(page, /sign-in link isn’t valid/);
  }
});

test('another issuer disconnects everyone, and removing the provider ends its sessions', async () => {
  const { browser } = await signIn(newUser());
  const changed = await owner.put(providerPath, { ...settings, issuer: honest.issuer });
  assert.equal(changed.status, 200, changed.text);
  assert.match((await browser.open('/me')).url, /\/sign-in\?/);
  assert.equal((await owner.put(providerPath, settings)).status, 200);
  const again = await signIn(newUser());
  assert.equal((await owner.delete(providerPath)).status, 204);
  assert.match((await again.browser.open('/me')).url, /\/sign-in\?/);
});
