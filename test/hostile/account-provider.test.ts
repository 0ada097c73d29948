import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createTransport } from 'nodemailer';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { setOperator } from '../../src/accounts/account/person-store.ts';
import type { PersonId } from '../../src/base/values/ids.ts';
import { IdentityProvider } from '../support/identity-provider.ts';
import { ManagementClient, openManagedShop } from '../support/management-client.ts';
import {
  clientSecret,
  password,
  passwordFields,
  postToken,
  refreshFields,
  SessionWorld,
} from '../support/session-world.ts';
import {
  providerUrlOf,
  sessionHeaders,
  signInWithProvider,
} from '../support/sign-in-with-provider.ts';
import { TestBrowser } from '../support/test-browser.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

/** The owners of account B run this provider, and let it claim whatever helps them. */
const provider = await IdentityProvider.start();
const { url: databaseUrl, database, clock } = await createTestDatabase();
const service = await startTestService({
  databaseUrl,
  clock,
  environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' },
});
const { owner, path, shop } = await openManagedShop(database, service);
const b = shop.id;
const a = new SessionWorld(database, '7000');
await a.addAccount();
const settings = {
  name: 'B ID',
  issuer: provider.issuer,
  clientId: 'b-client',
  clientSecret: 'a secret of b',
  members: [{ role: 'viewer', group: 'staff' }],
};
const set = await owner.put(`${path}/sign-in-provider`, settings);
assert.equal(set.status, 201, set.text);
const start = new URL(String(set.body.signInUrl));
start.searchParams.set('next', '/me');
// Never checked again, because its records don't exist.
await database.pool.query(
  `insert into sending_domain (account_id, domain, state, return_path, next_check_at)
   values ($1, 'staff.test', 'verified', 'bounce.staff.test', 'infinity')`,
  [b],
);
await provider.change({
  clients: [
    {
      id: 'b-client',
      secret: 'a secret of b',
      redirectUri: `${service.url}/sign-in/oidc/callback/${b}`,
    },
  ],
  user: { subject: 'nobody', claims: {} },
});
let serial = 0;

/** A member of both accounts who once connected B's provider. */
async function addConnected(): Promise<{ id: PersonId; email: string; subject: string }> {
  serial += 1;
  const subject = `victim-${serial}`;
  const person = await a.addPerson({ accounts: ['7000', b] });
  await connect(person.id, subject);
  return { ...person, subject };
}

async function connect(personId: PersonId, subject: string): Promise<void> {
  await database.pool.query(
    `insert into provider_identity (id, provider_account, issuer, subject, person_id, linked, created_at)
     values (gen_random_uuid(), $1, $2, $3, $4, true, now())`,
    [b, provider.issuer, subject, personId],
  );
}

function signInAs(subject: string, claims = {}) {
  const user = { subject, claims };
  return signInWithProvider(service, provider, { user, start: start.pathname + start.search });
}

async function ownBrowser(email: string): Promise<TestBrowser> {
  const browser = new TestBrowser(service.url);
  await browser.submit(await browser.open('/me'), { email, password });
  return browser;
}

async function guess(browser: TestBrowser, email: string, given = 'wrong'): Promise<number> {
  return (await browser.submit(await browser.open('/sign-in'), { email, password: given })).status;
}

test('ASVS 4.0.3 4.1.3: an account’s provider never signs in an operator, however they came to be connected', async () => {
  const victim = await addConnected();
  const events = await database.kysely.transaction().execute(async (transaction) => {
    await setOperator(transaction, victim.id, true);
    return transaction
      .selectFrom('system_mail')
      .select(sql<string>`facts ->> 'event'`.as('event'))
      .where('person_id', '=', victim.id)
      .execute();
  });
  assert.ok(events.some(({ event }) => event === 'provider-disconnected'));
  assert.match((await signInAs(victim.subject)).page.text, /didn’t send your email address/);
  // A connection that outlived that change, as from another node.
  await connect(victim.id, victim.subject);
  const { page, browser } = await signInAs(victim.subject);
  assert.match(page.text, /You’re an operator/);
  assert.match((await browser.open('/me')).url, /\/sign-in\?/);
  // Nor can an operator connect it.
  const own = await ownBrowser(victim.email);
  const me = await own.open('/me');
  assert.doesNotMatch(me.text, /Connect B ID/);
  const csrf = me.forms[0]?.fields.csrf ?? '';
  const tried = await own.request('/me/providers/connect', { csrf, account: b });
  assert.equal(tried.location, `${service.url}/me`);
});

test('ASVS 4.0.3 4.1.3: a session of an account’s provider reads no mail of other accounts and no system mail', async () => {
  const victim = await addConnected();
  await saveMembership(database.kysely, { accountId: b, personId: victim.id, role: 'owner' });
  const own = new ManagementClient(
    service,
    undefined,
    sessionHeaders(await ownBrowser(victim.email), service.url),
  );
  const transport = createTransport({ host: '127.0.0.1', port: service.app.inboxPort() });
  // As delivery names the account.
  for (const id of [b, a.accountId, '.system'])
    await transport.sendMail({
      from: 'x@b.test',
      to: 'y@b.test',
      subject: id,
      text: id,
      dsn: { id },
    });
  const { browser } = await signInAs(victim.subject);
  const bound = new ManagementClient(service, undefined, sessionHeaders(browser, service.url));
  assert.equal((await bound.get(path)).status, 200);
  for (const client of [own, bound]) {
    const { status, body, text } = await client.get(`${path}/inbox/messages`);
    assert.equal(status, 200, text);
    const subjects = (body.items as { subject: string }[]).map(({ subject }) => subject);
    assert.ok(subjects.includes(b));
    for (const subject of [a.accountId, '.system']) assert.ok(!subjects.includes(subject), subject);
    assert.equal((await client.get('/inbox/messages')).status, 403);
  }
  assert.equal((await bound.get(`/accounts/${a.accountId}/inbox/messages`)).status, 404);
});

test('ASVS 4.0.3 4.2.1: at /me, a session of an account’s provider sees and ends only what belongs to the account', async () => {
  const victim = await addConnected();
  const own = await ownBrowser(victim.email);
  const { clientId, name } = await a.addIntegration();
  await database.pool.query(
    `insert into consent (person_id, client_id, account_id, granted_at) values ($1, $2, '7000', now())`,
    [victim.id, clientId],
  );
  await database.pool.query(
    `update browser_session set last_address = '198.51.100.77'
    where person_id = $1`,
    [victim.id],
  );
  const { rows } = await database.pool.query(
    'select id from browser_session where person_id = $1',
    [victim.id],
  );
  const { browser, page } = await signInAs(victim.subject);
  assert.equal(page.url, `${service.url}/me`);
  for (const foreign of [name, 'Shop 7000', '198.51.100.77', 'Change password', 'Passkeys'])
    assert.ok(!page.text.includes(foreign), foreign);
  const csrf = page.forms[0]?.fields.csrf ?? '';
  await browser.request('/me/consents/withdraw', { csrf, client_id: clientId });
  await browser.request('/me/sessions/end', { csrf, session: rows[0]?.id });
  await browser.request('/me/sessions/end-others', { csrf });
  assert.equal((await browser.request('/me/language', { csrf, language: 'de' })).status, 403);
  const me = await own.open('/me');
  assert.match(me.text, /Sign-in and security/);
  assert.ok(me.text.includes(name), 'the consent stays');
});

test('ASVS 4.0.3 2.2.1: a session of an account’s provider is no oracle for the person’s password', async () => {
  const victim = await addConnected();
  const { browser } = await signInAs(victim.subject);
  await database.pool.query(
    `update browser_session set authenticated_at = now() - interval '1 hour' where person_id = $1`,
    [victim.id],
  );
  const page = await browser.open('/sign-in/confirm?next=/me');
  assert.doesNotMatch(page.text, /name="password"/);
  const csrf = /name="csrf" value="([^"]+)"/.exec((await browser.open('/me')).text)?.[1] ?? '';
  for (const given of [password, 'wrong']) {
    const response = await browser.request('/sign-in/confirm', {
      csrf,
      password: given,
      next: '/me',
    });
    assert.equal(response.status, 403);
  }
});

test('ASVS 4.0.3 2.2.1: sign-ins with an account’s provider make no browser known, so guesses stay throttled', async () => {
  const victim = await addConnected();
  const statuses: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const { browser } = await signInAs(victim.subject);
    await browser.submit(await browser.open('/me'), {}, '/sign-out');
    for (let attempt = 0; attempt < 4; attempt += 1)
      statuses.push(await guess(browser, victim.email));
  }
  // How many of the 16 are checked depends on the time they take, because delays grow from a second.
  assert.ok(statuses.includes(429), String(statuses));
});

test('ASVS 4.0.3 2.2.1: wrong codes after sign-ins with an account’s provider don’t delay the person’s own', async () => {
  const victim = await addConnected();
  await database.pool.query(
    `insert into second_factor (person_id, secret, confirmed_at) values ($1, 'x', now())`,
    [victim.id],
  );
  const { browser, page } = await signInAs(victim.subject);
  assert.match(page.url, /\/sign-in\/code\?/);
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 8; attempt += 1)
    statuses.push((await browser.submit(page, { code: 'wrong' })).status);
  assert.ok(statuses.includes(429), String(statuses));
  const own = new TestBrowser(service.url);
  const asked = await own.submit(await own.open('/me'), { email: victim.email, password });
  assert.equal((await own.submit(asked, { code: 'wrong' })).status, 401);
});

test('ASVS 4.0.3 2.2.1: ten browsers are known at most, and their guesses are taken from the person’s total', async () => {
  const { id, email } = await a.addPerson();
  const browsers: TestBrowser[] = [];
  for (let number = 0; number < 12; number += 1) {
    const browser = await ownBrowser(email);
    await browser.submit(await browser.open('/me'), {}, '/sign-out');
    browsers.push(browser);
  }
  const { rows } = await database.pool.query(
    'select count(*)::int as count from known_browser where person_id = $1',
    [id],
  );
  assert.equal(rows[0].count, 10);
  for (const browser of browsers.slice(2))
    for (let attempt = 0; attempt < 4; attempt += 1) assert.equal(await guess(browser, email), 401);
  const stranger = new TestBrowser(service.url);
  assert.equal(await guess(stranger, email, password), 429);
  const [, , known] = browsers;
  assert.ok(known);
  assert.equal(await guess(known, email, password), 200, 'the person’s own browser still signs in');
});

test('ASVS 4.0.3 5.1.5: the sign-in link of an account says where it leads, and redirects nowhere', async () => {
  const browser = new TestBrowser(service.url);
  const page = await browser.request(start.pathname + start.search);
  assert.equal(page.status, 200);
  assert.equal(page.location, undefined);
  const { host } = new URL(provider.issuer);
  for (const named of [`The account Shop`, String(b), `signs you in at ${host}`])
    assert.ok(page.text.includes(named), named);
  assert.match(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
  assert.ok(providerUrlOf(page)?.startsWith(provider.issuer));
});

test('OIDC Discovery 3: endpoints of a provider are https URLs without credentials, or nobody is sent there', async () => {
  let metadata: Record<string, unknown> = {};
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
  });
  after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoints = {
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    jwks_uri: `${base}/jwks`,
  };
  const cases: readonly [Record<string, unknown>, number][] = [
    [{}, 200],
    [{ authorization_endpoint: 'javascript:alert(1)' }, 303],
    [{ authorization_endpoint: [`${base}/authorize`] }, 303],
    [{ authorization_endpoint: 'https://user:word@evil.test/' }, 303],
    [{ authorization_endpoint: 'http://evil.test/' }, 303],
    [{ authorization_endpoint: undefined }, 303],
    [{ token_endpoint: 'data:,' }, 303],
    [{ jwks_uri: 7 }, 303],
    [{ userinfo_endpoint: 'file:///etc/passwd' }, 303],
  ];
  for (const [index, [change, status]] of cases.entries()) {
    // Its own issuer, because metadata is cached.
    const issuer = `${base}/${index}`;
    metadata = { issuer, ...endpoints, ...change };
    const saved = await owner.put(`${path}/sign-in-provider`, { ...settings, issuer });
    assert.equal(saved.status, 200, saved.text);
    const page = await new TestBrowser(service.url).request(start.pathname + start.search);
    assert.equal(page.status, status, JSON.stringify(change));
    if (status === 303) assert.match(page.location ?? '', /\/sign-in\?.*failed=provider-down/);
  }
  assert.equal((await owner.put(`${path}/sign-in-provider`, settings)).status, 200);
});

test('ASVS 4.0.3 4.1.3: who came by a provider’s group leaves with it, whatever password they set meanwhile', async () => {
  const email = 'leaver@staff.test';
  const claims = { email, email_verified: true, groups: ['staff'] };
  const { page } = await signInAs('leaver', claims);
  assert.equal(page.url, `${service.url}/me`);
  // As a password link does.
  await database.pool.query(
    `update person set password_hash = (select password_hash from person where id = $2), proven_at = now() where email = $1`,
    [email, (await a.addPerson()).id],
  );
  const browser = await ownBrowser(email);
  assert.match((await browser.open('/me')).url, /\/sign-in\?/, 'the password counts for nothing');
  // With an account that people granted, the password signs in, to that one.
  const { rows } = await database.pool.query('select id from person where email = $1', [email]);
  const personId = rows[0]?.id as PersonId;
  await saveMembership(database.kysely, { accountId: a.accountId, personId, role: 'viewer' });
  const headers = sessionHeaders(await ownBrowser(email), service.url);
  const client = new ManagementClient(service, undefined, headers);
  assert.equal((await client.get('/accounts/7000')).status, 200);
  const refused = await client.get(path);
  assert.equal(refused.body.type, '/problems/single-sign-on-required', refused.text);
});

/** Opens the consent page of an app, which asks for any account. */
function askConsent(browser: TestBrowser, clientId: string) {
  const query = new URLSearchParams({
    response_type: 'code',
    scope: 'PRODUCTION',
    client_id: clientId,
  });
  return browser.open(`/authorize?${query}`);
}

/** Allows an app for an account. @returns the code */
async function allow(browser: TestBrowser, clientId: string, account: string): Promise<string> {
  const page = await askConsent(browser, clientId);
  const sent = await browser.submit(page, { decision: 'allow', account });
  return new URL(sent.location ?? '').searchParams.get('code') ?? '';
}

function redeem(code: string, { clientId }: { readonly clientId: string }) {
  return postToken(service, {
    grant_type: 'authorization_code',
    code,
    client_id: clientId,
    client_secret: clientSecret,
  });
}

test('ASVS 4.0.3 4.2.1: a session of an account’s provider can’t take over an app that the person uses for more', async () => {
  const victim = await addConnected();
  const own = await ownBrowser(victim.email);
  const { browser, page: me } = await signInAs(victim.subject);
  const csrf = me.forms[0]?.fields.csrf ?? '';
  const consentFor7000 = async (client: { readonly clientId: string }) =>
    redeem(await allow(own, client.clientId, '7000'), client);
  const forAll = (client: { readonly clientId: string }) =>
    postToken(service, passwordFields(victim, client));
  for (const use of [consentFor7000, forAll]) {
    const client = await a.addIntegration();
    const tokens = await use(client);
    assert.equal(tokens.status, 200, tokens.text);
    const page = await askConsent(browser, client.clientId);
    assert.equal(page.status, 409);
    assert.match(page.text, /outside this account/);
    const forced = await browser.request(page.url, { csrf, decision: 'allow', account: b });
    assert.equal(forced.status, 409);
    await browser.request('/me/consents/withdraw', { csrf, client_id: client.clientId });
    const refreshed = await postToken(service, refreshFields(tokens.body.refresh_token, client));
    assert.equal(refreshed.status, 200, refreshed.text);
  }
});

test('ASVS 4.0.3 4.2.1: a session of an account’s provider revokes an app’s tokens of that account only', async () => {
  const victim = await addConnected();
  const own = await ownBrowser(victim.email);
  const client = await a.addIntegration();
  const tokens = await redeem(await allow(own, client.clientId, '7000'), client);
  const pending = await allow(own, client.clientId, b);
  const { browser, page } = await signInAs(victim.subject);
  const csrf = page.forms[0]?.fields.csrf ?? '';
  await browser.request('/me/consents/withdraw', { csrf, client_id: client.clientId });
  assert.equal((await redeem(pending, client)).status, 400, 'its code is revoked');
  const refreshed = await postToken(service, refreshFields(tokens.body.refresh_token, client));
  assert.equal(refreshed.status, 200, refreshed.text);
});

test('RFC 6749 4.1.2: a code is worth nothing once the person consented for another account', async () => {
  const victim = await addConnected();
  const own = await ownBrowser(victim.email);
  const client = await a.addIntegration();
  const { browser } = await signInAs(victim.subject);
  const earlier = await allow(browser, client.clientId, b);
  const code = await allow(own, client.clientId, '7000');
  assert.equal((await redeem(code, client)).status, 200);
  assert.equal((await redeem(earlier, client)).status, 400);
});

test('ASVS 4.0.3 3.7.1: a new password confirms nothing and leaves the session what it was', async () => {
  const victim = await addConnected();
  const browser = await ownBrowser(victim.email);
  const old = new Map(browser.cookies);
  const other = await ownBrowser(victim.email);
  const page = await browser.open('/me/password');
  // As a session of the installation's provider, whose person signed in an hour ago with a second factor.
  const { rows } = await database.pool.query(
    `with identity as (
       insert into provider_identity (id, issuer, subject, person_id, linked, created_at)
       values (gen_random_uuid(), 'https://id.test', $2, $1, true, now()) returning id)
     update browser_session set authenticated_at = now() - interval '1 hour', provider_second_factor = true,
       provider_identity_id = (select id from identity)
     where person_id = $1 returning provider_identity_id`,
    [victim.id, victim.subject],
  );
  const next = 'another battery staple';
  const changed = await browser.submit(page, { password, new: next });
  assert.match(changed.text, /Password changed/);
  const after = await database.pool.query(
    `select provider_identity_id, provider_second_factor, now() - authenticated_at > interval '50 minutes' as earlier
     from browser_session where person_id = $1`,
    [victim.id],
  );
  assert.deepEqual(after.rows, [{ ...rows[0], provider_second_factor: true, earlier: true }]);
  const copy = new TestBrowser(service.url);
  for (const [name, value] of old) copy.cookies.set(name, value);
  for (const ended of [other, copy])
    assert.match((await ended.open('/me')).url, /\/sign-in\?/, 'only the new cookie counts');
  const sensitive = await browser.open('/me/second-factor');
  assert.match(sensitive.url, /\/sign-in\/confirm\?/);
});

test('OIDC Core 5.7: who came by a provider and joined another account connects it and signs in with it again', async () => {
  const email = 'joiner@staff.test';
  const claims = { email, email_verified: true, groups: ['staff'] };
  assert.equal((await signInAs('joiner', claims)).page.url, `${service.url}/me`);
  const { rows } = await database.pool.query(
    `update person set password_hash = (select password_hash from person where id = $2), proven_at = now()
     where email = $1 returning id`,
    [email, (await a.addPerson()).id],
  );
  const personId = rows[0]?.id as PersonId;
  await saveMembership(database.kysely, { accountId: a.accountId, personId, role: 'viewer' });
  const refused = await signInAs('joiner', claims);
  assert.match(refused.page.url, /\/sign-in\?/);
  const browser = await ownBrowser(email);
  const sent = await browser.submit(
    await browser.open('/me'),
    { account: b },
    '/me/providers/connect',
  );
  const done = await browser.open(await provider.authorize(providerUrlOf(sent) ?? ''));
  assert.match(done.text, /Sign-in provider connected/);
  assert.doesNotMatch(done.text, /Connect B ID/);
  assert.equal((await signInAs('joiner', claims)).page.url, `${service.url}/me`);
  // Only the person's own: another person can't connect the same subject.
  const stranger = await a.addPerson({ accounts: ['7000', b] });
  const foreign = await ownBrowser(stranger.email);
  const begun = await foreign.submit(
    await foreign.open('/me'),
    { account: b },
    '/me/providers/connect',
  );
  const taken = await foreign.open(await provider.authorize(providerUrlOf(begun) ?? ''));
  assert.match(taken.text, /Not connected/);
});

test('ASVS 4.0.3 4.1.3: the role that an owner sets for a provider’s member stays when the provider’s rule goes', async () => {
  const email = 'keeper@staff.test';
  const claims = { email, email_verified: true, groups: ['staff'] };
  await signInAs('keeper', claims);
  const set = await owner.put(`${path}/users/${email}`, { role: 'viewer' });
  assert.equal(set.status, 200, set.text);
  const { page } = await signInAs('keeper', { ...claims, groups: [] });
  assert.equal(page.url, `${service.url}/me`);
});

test('ASVS 4.0.3 2.10.4: a client secret is never sent to another issuer or client than it was given for', async () => {
  const { clientSecret: _, ...withoutSecret } = settings;
  for (const change of [{ issuer: 'https://127.0.0.1' }, { clientId: 'another' }]) {
    const refused = await owner.put(`${path}/sign-in-provider`, { ...withoutSecret, ...change });
    assert.equal(refused.status, 422, refused.text);
    const [error] = refused.body.errors as { field: string; message: string }[];
    assert.equal(error?.field, 'clientSecret');
    assert.match(refused.text, /Send the client’s secret/);
  }
  const kept = await owner.put(`${path}/sign-in-provider`, { ...withoutSecret, name: 'Renamed' });
  assert.equal(kept.status, 200, kept.text);
  assert.equal((await owner.put(`${path}/sign-in-provider`, settings)).status, 200);
});

test('ASVS 4.0.3 4.1.3: tokens of who came by a provider end with the provider', async () => {
  const email = 'app-user@staff.test';
  const claims = { email, email_verified: true, groups: ['staff'] };
  const { browser } = await signInAs('app-user', claims);
  const client = await a.addIntegration();
  const tokens = await redeem(await allow(browser, client.clientId, b), client);
  assert.equal(tokens.status, 200, tokens.text);
  const refreshed = await postToken(service, refreshFields(tokens.body.refresh_token, client));
  assert.equal(refreshed.status, 200, refreshed.text);
  assert.equal((await owner.delete(`${path}/sign-in-provider`)).status, 204);
  const ended = await postToken(service, refreshFields(refreshed.body.refresh_token, client));
  assert.equal(ended.status, 400, ended.text);
  assert.equal((await owner.put(`${path}/sign-in-provider`, settings)).status, 201);
});

test('ASVS 4.0.3 4.1.1: a provider brings nobody into a suspended account', async () => {
  const { rows } = await database.pool.query(
    'select link from account_sign_in_provider where account_id = $1',
    [b],
  );
  start.searchParams.set('link', rows[0]?.link);
  await database.pool.query('update account set suspended_at = now() where id = $1', [b]);
  const email = 'late@staff.test';
  const claims = { email, email_verified: true, groups: ['staff'] };
  const refused = await signInAs('late', claims);
  assert.match(refused.page.url, /failed=no-member/);
  const people = await database.pool.query('select from person where email = $1', [email]);
  assert.equal(people.rowCount, 0);
  await database.pool.query('update account set suspended_at = null where id = $1', [b]);
  assert.equal((await signInAs('late', claims)).page.url, `${service.url}/me`);
});
