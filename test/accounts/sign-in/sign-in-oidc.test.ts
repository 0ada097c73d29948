import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMemberships } from '../../../src/accounts/account/membership-store.ts';
import { findPersonByEmail } from '../../../src/accounts/account/person-store.ts';
import { IdentityProvider } from '../../support/identity-provider.ts';
import { openSessionWorld, password } from '../../support/session-world.ts';
import { TestBrowser, type VisitedPage } from '../../support/test-browser.ts';
import { startTestService } from '../../support/test-service.ts';

const provider = await IdentityProvider.start();
const { url, database, clock, service, world } = await openSessionWorld({
  movesClock: true,
  environment: {
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'signalpost',
    OIDC_CLIENT_SECRET: 'a client secret of the provider',
    OIDC_NAME: 'Example ID',
    OIDC_MEMBERS: '1000:developer:engineering,1000:viewer:@corp.test,2000:owner:leads',
  },
});
await world.addAccount('2000');
let serial = 0;

/** A new user of the provider. */
function newUser(claims: Readonly<Record<string, unknown>> = {}) {
  serial += 1;
  const email = `user${serial}@corp.test`;
  return {
    subject: `subject-${serial}`,
    claims: { email, email_verified: true, name: `User ${serial}`, ...claims },
  };
}

await provider.change({
  clients: [
    {
      id: 'signalpost',
      secret: 'a client secret of the provider',
      redirectUri: `${service.url}/sign-in/oidc/callback`,
    },
  ],
  user: newUser(),
});

/** Begins a sign-in. @returns where the browser is sent */
async function begin(browser: TestBrowser, next = '/me'): Promise<URL> {
  const page = await browser.request(`/sign-in/oidc?${new URLSearchParams({ next })}`);
  assert.equal(page.status, 303);
  return new URL(page.location ?? '');
}

/** Signs in with the provider, as a browser does. */
async function signInWithProvider(
  user: Parameters<typeof provider.change>[0]['user'],
  browser = new TestBrowser(service.url),
): Promise<{ browser: TestBrowser; page: VisitedPage }> {
  if (user !== undefined) await provider.change({ user });
  const callback = await provider.authorize((await begin(browser)).href);
  return { browser, page: await browser.open(callback) };
}

async function rolesOf(email: string): Promise<Record<string, string>> {
  const person = await findPersonByEmail(database.kysely, email);
  assert.ok(person, `${email} is a person`);
  const list = await readMemberships(database.kysely, { personId: person.id, reach: 'all' });
  return Object.fromEntries(list.map(({ accountId, role }) => [accountId, role]));
}

function assertRefused(page: VisitedPage, text: RegExp): void {
  assert.match(page.url, /\/sign-in\?/);
  assert.match(page.text, text);
}

async function assertAnonymous(browser: TestBrowser): Promise<void> {
  assert.match((await browser.open('/me')).url, /\/sign-in\?/);
}

test('OIDC Core 3.1.2.1: the sign-in page sends the browser to the provider with state, nonce and S256', async () => {
  const browser = new TestBrowser(service.url);
  const page = await browser.open('/sign-in?next=/me');
  assert.match(page.text, /href="\/sign-in\/oidc\?next&#61;%2Fme">Sign in with Example ID</);
  const [one, other] = [await begin(browser), await begin(browser)];
  const sent = Object.fromEntries(one.searchParams);
  assert.equal(one.origin, provider.issuer);
  assert.equal(sent.response_type, 'code');
  assert.equal(sent.client_id, 'signalpost');
  assert.equal(sent.redirect_uri, `${service.url}/sign-in/oidc/callback`);
  assert.equal(sent.code_challenge_method, 'S256');
  for (const name of ['state', 'nonce', 'code_challenge']) {
    assert.match(sent[name] ?? '', /^[\w-]{43}$/);
    assert.notEqual(other.searchParams.get(name), sent[name]);
  }
});

test('OIDC Core 3.1.3: a new person with a verified address of a domain becomes a member and is signed in', async () => {
  const user = newUser();
  const { page } = await signInWithProvider(user);
  assert.equal(page.url, `${service.url}/me`);
  assert.match(page.text, new RegExp(`${user.claims.name} · ${user.claims.email}`));
  assert.deepEqual(await rolesOf(user.claims.email), { 1000: 'viewer' });
});

test('OIDC Core 5.3: claims that are only at the UserInfo endpoint count too', async () => {
  const user = newUser({ groups: ['engineering'] });
  await provider.change({ claimsInUserInfo: true });
  const { page } = await signInWithProvider(user);
  await provider.change({ claimsInUserInfo: false });
  assert.equal(page.url, `${service.url}/me`);
  assert.deepEqual(await rolesOf(user.claims.email), { 1000: 'developer' });
});

test('groups grant roles, and losing a group ends what it granted, but not what people granted', async () => {
  const user = newUser({ groups: ['engineering', 'leads'], email: 'mover@elsewhere.test' });
  await signInWithProvider(user);
  assert.deepEqual(await rolesOf('mover@elsewhere.test'), { 1000: 'developer', 2000: 'owner' });
  await world.addAccount('3000');
  await database.pool.query(
    `insert into membership (account_id, person_id, role)
     select '3000', id, 'viewer' from person where email = 'mover@elsewhere.test'`,
  );
  const other = await world.addPerson({ accounts: [] });
  await database.pool.query(
    `insert into membership (account_id, person_id, role) values ('2000', $1, 'owner')`,
    [other.id],
  );
  const claims = { ...user.claims, groups: [] };
  await signInWithProvider({ ...user, claims });
  assert.deepEqual(await rolesOf('mover@elsewhere.test'), { 3000: 'viewer' });
});

test('an account keeps its last owner, whatever the provider says', async () => {
  await world.addAccount('2001');
  const user = newUser({ groups: ['leads'], email: 'last@elsewhere.test' });
  await database.pool.query(`delete from membership where account_id = '2000'`);
  await signInWithProvider(user);
  await signInWithProvider({ ...user, claims: { ...user.claims, groups: [] } });
  assert.deepEqual(await rolesOf('last@elsewhere.test'), { 2000: 'owner' });
});

test('a person who left the last group loses access', async () => {
  const user = newUser({ groups: ['engineering'], email: 'leaver@elsewhere.test' });
  await signInWithProvider(user);
  const { browser, page } = await signInWithProvider({
    ...user,
    claims: { ...user.claims, groups: ['choir'] },
  });
  assertRefused(page, /gives you no access here/);
  assert.deepEqual(await rolesOf('leaver@elsewhere.test'), {});
  await assertAnonymous(browser);
});

test('groups that don’t fit into a token end nothing', async () => {
  const user = newUser({ groups: ['engineering'], email: 'many@elsewhere.test' });
  await signInWithProvider(user);
  const claims = { ...user.claims, groups: undefined, _claim_names: { groups: 'src1' } };
  const { page } = await signInWithProvider({ ...user, claims });
  assertRefused(page, /sends too many groups/);
  assert.deepEqual(await rolesOf('many@elsewhere.test'), { 1000: 'developer' });
});

test('OIDC Core 5.1: an address that the provider hasn’t verified brings nobody in', async () => {
  const user = newUser({ email_verified: false, groups: ['engineering'] });
  assertRefused((await signInWithProvider(user)).page, /hasn’t verified your email address/);
  assert.equal(await findPersonByEmail(database.kysely, user.claims.email), undefined);
});

test('OIDC Core 5.7: an address alone never signs in the person who has it here', async () => {
  const person = await world.addPerson();
  const user = newUser({ email: person.email, groups: ['engineering'] });
  const { browser, page } = await signInWithProvider(user);
  assertRefused(page, /already have a sign-in here/);
  await assertAnonymous(browser);
});

test('OIDC Core 5.7: the subject identifies a person, also after a change of address', async () => {
  const user = newUser();
  await signInWithProvider(user);
  const claims = { ...user.claims, email: 'new-name@corp.test' };
  const { page } = await signInWithProvider({ ...user, claims });
  assert.match(page.text, new RegExp(user.claims.email));
  assert.equal(await findPersonByEmail(database.kysely, 'new-name@corp.test'), undefined);
});

test('RFC 7636 4.6: a code requested with another challenge isn’t redeemed', async () => {
  const browser = new TestBrowser(service.url);
  const sent = await begin(browser);
  sent.searchParams.set('code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
  const page = await browser.open(await provider.authorize(sent.href));
  assertRefused(page, /didn’t confirm who you are/);
  await assertAnonymous(browser);
});

test('OIDC Core 3.1.3.7 (11): an ID token with another nonce is refused', async () => {
  const browser = new TestBrowser(service.url);
  const sent = await begin(browser);
  sent.searchParams.set('nonce', 'of-another-sign-in');
  const page = await browser.open(await provider.authorize(sent.href));
  assertRefused(page, /didn’t confirm who you are/);
  await assertAnonymous(browser);
});

test('RFC 9207 2.4: a response that names another issuer, or none, is refused before its code is redeemed', async () => {
  for (const iss of ['https://attacker.test', undefined]) {
    const browser = new TestBrowser(service.url);
    const callback = new URL(await provider.authorize((await begin(browser)).href));
    assert.equal(callback.searchParams.get('iss'), provider.issuer);
    if (iss === undefined) callback.searchParams.delete('iss');
    else callback.searchParams.set('iss', iss);
    assertRefused(await browser.open(callback.href), /didn’t confirm who you are/);
    await assertAnonymous(browser);
  }
});

test('RFC 9700 4.7.1: only the browser that began a sign-in can finish it', async () => {
  const [attacker, victim] = [new TestBrowser(service.url), new TestBrowser(service.url)];
  const callback = await provider.authorize((await begin(attacker)).href);
  assertRefused(await victim.open(callback), /expired or was already used/);
  await begin(victim);
  assertRefused(await victim.open(callback), /expired or was already used/);
  await assertAnonymous(victim);
});

test('RFC 9700 4.5: a response works once, even with the cookies of the moment before', async () => {
  const browser = new TestBrowser(service.url);
  const callback = await provider.authorize((await begin(browser)).href);
  const copy = new TestBrowser(service.url);
  for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
  assert.equal((await browser.open(callback)).url, `${service.url}/me`);
  assertRefused(await copy.open(callback), /expired or was already used/);
  await assertAnonymous(copy);
});

test('RFC 9700 4.7.1: a sign-in that took longer than ten minutes has to begin again', async () => {
  const browser = new TestBrowser(service.url);
  const callback = await provider.authorize((await begin(browser)).href);
  await clock.advance(10 * 60_000);
  const page = await browser.open(callback);
  await clock.reset();
  assertRefused(page, /expired or was already used/);
});

test('OIDC Core 10.1.1: the provider can replace its keys at any time', async () => {
  await provider.change({ rotations: 1 });
  assert.equal((await signInWithProvider(newUser())).page.url, `${service.url}/me`);
  const browser = new TestBrowser(service.url);
  const sent = await begin(browser);
  await provider.change({ rotations: 2 });
  const page = await browser.open(await provider.authorize(sent.href));
  assert.equal(page.url, `${service.url}/me`);
});

test('OIDC Core 3.1.3.7 (6): an ID token that the provider’s published keys didn’t sign is refused', async () => {
  await provider.change({ publishForeignKeys: true });
  const { browser, page } = await signInWithProvider(newUser());
  await provider.change({ publishForeignKeys: false });
  assertRefused(page, /didn’t confirm who you are/);
  await assertAnonymous(browser);
});

test('OIDC Core 3.1.3.7 (9, 10): a provider’s clock may differ by a minute, not by two', async () => {
  for (const [offset, accepted] of [
    [-50_000, true],
    [50_000, true],
    [120_000, false],
    // Its tokens are valid for an hour.
    [-3_600_000 - 120_000, false],
  ] as const) {
    await provider.change({ clockOffsetMs: offset });
    const { page } = await signInWithProvider(newUser());
    if (accepted) assert.equal(page.url, `${service.url}/me`, `${offset} ms`);
    else assertRefused(page, /didn’t confirm who you are/);
  }
  await provider.change({ clockOffsetMs: 0 });
});

test('RFC 6749 4.1.2.1: an error of the provider leads back to the sign-in page', async () => {
  const browser = new TestBrowser(service.url);
  const state = (await begin(browser)).searchParams.get('state') ?? '';
  const response = new URLSearchParams({ error: 'access_denied', state, iss: provider.issuer });
  const page = await browser.open(`/sign-in/oidc/callback?${response}`);
  assertRefused(page, /didn’t confirm who you are/);
});

test('ASVS 4.0.3 5.1.5: a sign-in continues only to local pages', async () => {
  for (const next of ['https://attacker.test/me', '//attacker.test/me', '/\\attacker.test']) {
    const browser = new TestBrowser(service.url);
    const callback = await provider.authorize((await begin(browser, next)).href);
    const response = await browser.request(callback);
    assert.equal(response.location, `${service.url}/console`);
  }
});

test('ASVS 4.0.3 3.2.1: signing in replaces the session’s cookie', async () => {
  const browser = new TestBrowser(service.url);
  await browser.open('/sign-in');
  const before = browser.cookies.get('signalpost');
  await signInWithProvider(newUser(), browser);
  assert.notEqual(browser.cookies.get('signalpost'), before);
});

test('a provider with too much to say is refused, and one that is down leaves the other ways', async () => {
  const person = await world.addPerson();
  const late = await startTestService({
    databaseUrl: url,
    clock,
    environment: {
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: 'signalpost',
      OIDC_CLIENT_SECRET: 'a client secret of the provider',
    },
  });
  await provider.change({ bloated: true });
  for (const step of ['bloated', 'down']) {
    if (step === 'down') await provider.stop();
    const browser = new TestBrowser(late.url);
    const page = await browser.open('/sign-in/oidc?next=/me');
    assert.match(page.text, /provider can’t be reached/);
    const signedIn = await browser.submit(page, { email: person.email, password });
    assert.equal(signedIn.url, `${late.url}/me`);
  }
});
