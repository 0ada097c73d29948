import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountTopic } from '../../../src/accounts/account/account-store.ts';
import { saveMembership } from '../../../src/accounts/account/membership-store.ts';
import { findPersonByEmail, setOperator } from '../../../src/accounts/account/person-store.ts';
import { announceChange } from '../../../src/base/database/announce.ts';
import { newId } from '../../../src/base/values/ids.ts';
import { IdentityProvider } from '../../support/identity-provider.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import {
  openSessionWorld,
  password,
  passwordFields,
  postToken,
} from '../../support/session-world.ts';
import { sessionHeaders, signInWithProvider } from '../../support/sign-in-with-provider.ts';
import { TestBrowser } from '../../support/test-browser.ts';
import { startTestService } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const provider = await IdentityProvider.start();
const environment = {
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: 'signalpost',
  OIDC_CLIENT_SECRET: 'a client secret',
  OIDC_MEMBERS: '1000:owner:owners,1000:developer:engineering',
};
const { url, database, clock, service, world } = await openSessionWorld({
  movesClock: true,
  environment,
});
const account = world.accountId;
const strict = await startTestService({
  databaseUrl: url,
  clock,
  environment: { ...environment, OIDC_ONLY: '1' },
});
await world.addAccount('2000');
const client = await world.addIntegration({ grants: new Set(['password', 'refresh_token']) });
const path = `/accounts/${account}`;
let serial = 0;

function newUser(more: { amr?: string[]; acr?: string; signedInSecondsAgo?: number } = {}) {
  serial += 1;
  const email = `person-${serial}@corp.test`;
  return {
    subject: `s-${serial}`,
    claims: { email, email_verified: true, groups: ['engineering'] },
    ...more,
  };
}

const clients = [service, strict].map((node, index) => ({
  id: index === 0 ? 'signalpost' : 'strict',
  secret: 'a client secret',
  redirectUri: `${node.url}/sign-in/oidc/callback`,
}));
await provider.change({ clients, user: newUser() });

function managing(browser: TestBrowser): ManagementClient {
  return new ManagementClient(service, undefined, sessionHeaders(browser, service.url));
}

async function signedIn(user: ReturnType<typeof newUser>, atProvider?: TestBrowser) {
  const options = { user, ...(atProvider && { atProvider }) };
  const { browser, page } = await signInWithProvider(service, provider, options);
  assert.equal(page.url, `${service.url}/me`);
  return browser;
}

/** Signs in with the password. */
async function withPassword(email: string, node = service) {
  const browser = new TestBrowser(node.url);
  return { browser, page: await browser.submit(await browser.open('/me'), { email, password }) };
}

async function setRule(columns: string): Promise<void> {
  await database.pool.query(`update account set ${columns} where id = $1`, [account]);
  await announceChange(database.kysely, accountTopic, account);
}

test('RFC 8176 2: only a provider that names several factors counts as a second factor', async () => {
  await setRule(`second_factor = 'everyone'`);
  for (const [more, status] of [
    [{}, 403],
    [{ amr: ['pwd'] }, 403],
    [{ amr: ['hwk', 'otp'] }, 403],
    [{ amr: ['pwd', 'mfa'] }, 200],
    [{ acr: 'pwd' }, 403],
    [{ acr: 'phr' }, 200],
  ] as const) {
    const browser = await signedIn(newUser(more as Parameters<typeof newUser>[0]));
    const read = () => managing(browser).get(path);
    await waitFor(
      `${status} with ${JSON.stringify(more)}`,
      async () => (await read()).status === status,
    );
  }
  await setRule(`second_factor = 'own-choice'`);
});

test('ASVS 4.0.3 2.8: a second factor here is asked for unless the provider checked several', async () => {
  const user = newUser();
  await signedIn(user);
  const person = await findPersonByEmail(database.kysely, user.claims.email);
  await database.pool.query(
    `insert into second_factor (person_id, secret, confirmed_at) values ($1, '', now())`,
    [person?.id],
  );
  const halfway = await signInWithProvider(service, provider, { user });
  assert.match(halfway.page.url, /\/sign-in\/code/);
  assert.match((await halfway.browser.open('/me')).url, /\/sign-in\?/);
  await signedIn({ ...user, amr: ['mfa'] });
});

test('OIDC Core 3.1.2.1: confirming asks the provider to sign the person in again, and checks that it did', async () => {
  const atProvider = provider.browser();
  const user = newUser({ signedInSecondsAgo: 3_600 });
  const browser = await signedIn(user, atProvider);
  const page = await browser.open('/me/second-factor');
  assert.match(page.url, /\/sign-in\/confirm\?/);
  const start = /href="([^"]+)">Continue with/.exec(page.text)?.[1]?.replaceAll('&#61;', '=') ?? '';
  assert.match(start, /^\/sign-in\/confirm\/oidc\?next=/);
  const sent = new URL((await browser.request(start)).location ?? '');
  assert.equal(sent.searchParams.get('prompt'), 'login');
  assert.equal(sent.searchParams.get('max_age'), '0');
  // Whoever has the browser removes what asks for the password.
  sent.searchParams.delete('prompt');
  sent.searchParams.delete('max_age');
  const stale = await browser.open(await provider.authorize(sent.href, atProvider));
  assert.match(stale.url, /\/sign-in\/confirm\?/);
  assert.match(stale.text, /didn’t confirm who you are/);
  assert.match((await browser.open('/me/second-factor')).url, /\/sign-in\/confirm\?/);
  await provider.change({ user: newUser() });
  const other = await browser.request(start);
  const wrong = await browser.open(await provider.authorize(other.location ?? ''));
  assert.match(wrong.text, /signed in to your provider as someone else/);
  await provider.change({ user: { ...user, signedInSecondsAgo: 0 } });
  const fresh = await browser.request(start);
  const done = await browser.open(await provider.authorize(fresh.location ?? ''));
  assert.equal(done.url, `${service.url}/me/second-factor`);
});

test('OIDC Core 2: a provider that doesn’t say when confirms nothing, and a sign-in there doesn’t count as recent', async () => {
  const user = { ...newUser(), sendsTime: false };
  await provider.change({ user });
  const browser = new TestBrowser(service.url);
  const begun = new URL((await browser.request('/sign-in/oidc?next=/me')).location ?? '');
  begun.searchParams.delete('max_age');
  await browser.open(await provider.authorize(begun.href));
  const page = await browser.open('/me/second-factor');
  assert.match(page.url, /\/sign-in\/confirm\?/);
  const sent = new URL((await browser.request('/sign-in/confirm/oidc?next=/me')).location ?? '');
  sent.searchParams.delete('max_age');
  sent.searchParams.delete('prompt');
  const response = await browser.open(await provider.authorize(sent.href));
  assert.match(response.text, /didn’t confirm who you are/);
});

test('RFC 9700 4.7: a confirmation counts only in the session that asked for it', async () => {
  const user = newUser({ signedInSecondsAgo: 3_600 });
  const browser = await signedIn(user);
  await provider.change({ user: { ...user, signedInSecondsAgo: 0 } });
  const sent = await browser.request('/sign-in/confirm/oidc?next=/me');
  const callback = await provider.authorize(sent.location ?? '');
  const victim = await world.addPerson();
  const { browser: theirs } = await withPassword(victim.email);
  const flow = browser.cookies.get('signalpost-provider') ?? '';
  theirs.cookies.set('signalpost-provider', flow);
  const page = await theirs.request(callback);
  assert.match(page.location ?? '', /failed=flow-expired/);
});

test('an account can ask for single sign-on; nobody locks themselves out with it', async () => {
  const { browser } = await withPassword((await world.addPerson({ accounts: [] })).email);
  const person = await world.addPerson({ accounts: [] });
  await saveMembership(database.kysely, { accountId: account, personId: person.id, role: 'owner' });
  const owner = await withPassword(person.email);
  const refused = await managing(owner.browser).put(`${path}/policy`, { signIn: 'single-sign-on' });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /would lock you out: sign in with the account’s provider first/);
  const user = newUser();
  const claims = { ...user.claims, groups: ['owners'] };
  const with2 = await signedIn({ ...user, claims } as typeof user);
  const set = await managing(with2).put(`${path}/policy`, { signIn: 'single-sign-on' });
  assert.equal(set.status, 200, set.text);
  assert.equal((await browser.open('/me')).status, 200);
});

test('ASVS 4.0.3 4.1.1: an account that asks for single sign-on refuses passwords, except of operators', async () => {
  const person = await world.addPerson({ accounts: [account, '2000'] });
  const { browser } = await withPassword(person.email);
  const inside = managing(browser);
  await waitFor('the policy', async () => (await inside.get(path)).status === 403);
  const refused = await inside.get(path);
  assert.equal(refused.body.type, '/problems/single-sign-on-required');
  assert.equal(refused.body.signInPath, '/sign-in/oidc');
  assert.equal((await inside.get('/accounts/2000')).status, 200, 'the other account doesn’t ask');
  assert.equal((await managing(await signedIn(newUser())).get(path)).status, 200);
  await setOperator(database.kysely, person.id, true);
  assert.equal((await inside.get(path)).status, 200);
  await setOperator(database.kysely, person.id, false);
});

test('contract 5.2: people of an account that asks for single sign-on can’t use the password grant, service users can', async () => {
  const person = await world.addPerson({ accounts: [account] });
  const refused = await postToken(service, passwordFields(person, client));
  assert.equal(refused.status, 400);
  assert.equal(refused.body.error, 'invalid_grant');
  assert.match(String(refused.body.error_description), /use a service user/);
  const { page } = await withPassword(person.email);
  assert.equal(page.status, 401);
  assert.match(page.text, /Sign in with your company’s provider/);
  const program = await world.addPerson({ accounts: [] });
  await saveMembership(database.kysely, {
    accountId: account,
    personId: program.id,
    role: 'service',
  });
  assert.equal((await postToken(service, passwordFields(program, client))).status, 200);
});

test('a person who has to use the provider is told so instead of that the password is wrong', async () => {
  const person = await world.addPerson({ accounts: ['2000'] });
  const { browser } = await withPassword(person.email);
  await database.pool.query('update membership set account_id = $1 where person_id = $2', [
    account,
    person.id,
  ]);
  const page = await browser.open('/me/password');
  const next = 'quite another password';
  const refused = await browser.submit(page, { password, new: next });
  assert.equal(refused.status, 403);
  assert.match(refused.text, /You sign in with a provider/);
  const wrong = await browser.submit(page, { password: 'wrong', new: next });
  assert.match(wrong.text, /Incorrect current password/);
});

test('contract 5.2: a token of the password grant doesn’t reach an account that asks for single sign-on', async () => {
  const person = await world.addPerson({ accounts: [account, '2000'] });
  const tokens = await postToken(service, passwordFields(person, client));
  assert.equal(tokens.status, 200);
  const headers = { authorization: `Bearer ${String(tokens.body.access_token)}` };
  const read = (id: string) =>
    sendRequest(`${service.url}/ete/v1/message/${id}/${newId()}`, { headers });
  assert.match((await read('2000')).text, /is not a message of this account/);
  assert.equal((await read(account)).status, 401);
});

test('OIDC_ONLY turns passwords off for the provider’s people, except operators', async () => {
  await setRule(`sign_in = 'own-choice'`);
  const person = await world.addPerson({ accounts: [account] });
  assert.equal((await withPassword(person.email, strict)).page.url, `${strict.url}/me`);
  await database.pool.query(
    `insert into provider_identity (id, issuer, subject, person_id, linked, created_at)
     values (gen_random_uuid(), $1, 'linked', $2, true, now())`,
    [provider.issuer, person.id],
  );
  const refused = await withPassword(person.email, strict);
  assert.equal(refused.page.status, 401);
  assert.match(refused.page.text, /Sign in with your company’s provider/);
  assert.equal((await postToken(strict, passwordFields(person, client))).status, 400);
  assert.equal((await withPassword(person.email)).page.url, `${service.url}/me`);
  await setOperator(database.kysely, person.id, true);
  assert.equal((await withPassword(person.email, strict)).page.url, `${strict.url}/me`);
});
