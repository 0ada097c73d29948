import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { OffsetClock } from '../../src/foundation/clock.ts';
import { ask } from '../support/ask.ts';
import {
  clientSecret,
  password,
  passwordFields,
  postToken,
  refreshFields,
  SessionWorld,
} from '../support/session-world.ts';
import { TestBrowser, type VisitedPage } from '../support/test-browser.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

const { url, database } = await createTestDatabase();
const clock = new OffsetClock();
const nodes = [
  await startTestService({ databaseUrl: url, clock }),
  await startTestService({ databaseUrl: url, clock }),
] as const;
const [service] = nodes;
const world = new SessionWorld(database);
await world.addAccount();
const client = await world.addIntegration();

async function signedIn(email: string, typed = password): Promise<[TestBrowser, VisitedPage]> {
  const browser = new TestBrowser(service.url, { 'user-agent': 'Firefox/140.0 Linux' });
  return [browser, await browser.submit(await browser.open('/me'), { email, password: typed })];
}

async function isAccepted(node: { url: string }, accessToken: unknown): Promise<boolean> {
  const headers = { authorization: `Bearer ${String(accessToken)}` };
  return (await ask(`${node.url}/api/1/list`, { headers })).status !== 401;
}

function codeOf(secret: string, steps = 0): string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  return totp.generate({ timestamp: clock.now() + steps * 30_000 });
}

/** Turns the second factor on and answers its secret. */
async function enrol(browser: TestBrowser): Promise<string> {
  const page = await browser.submit(await browser.open('/me/second-factor'), { password });
  const secret = (/Or type the key: <code>([A-Z2-7 ]+)</.exec(page.text)?.[1] ?? '').replaceAll(
    ' ',
    '',
  );
  assert.equal(secret.length, 32);
  assert.match((await browser.submit(page, { code: codeOf(secret) })).text, /second factor is on/);
  return secret;
}

async function lastEvents(personId: string): Promise<string[]> {
  const { rows } = await database.pool.query(
    'select kind, outcome from audit_event where person_id = $1 order by id',
    [personId],
  );
  return rows.map(({ kind, outcome }) => `${kind} ${outcome}`);
}

test('one’s own page wants a sign-in, and returns to where one was going', async () => {
  const { email } = await world.addPerson();
  const browser = new TestBrowser(service.url);
  const page = await browser.open('/me/password');
  assert.match(page.text, /<h1>Sign in<\/h1>/);
  assert.match((await browser.submit(page, { email, password })).text, /<h1>Change your password/);
});

test('browsers are listed, and another one is signed out at once on every node', async () => {
  const { id, email } = await world.addPerson();
  const [lost] = await signedIn(email);
  const [browser, page] = await signedIn(email);
  assert.match(page.text, /this browser/);
  assert.equal(page.text.match(/Firefox on Linux <span/g)?.length, 2);
  const after = await browser.submit(page, {}, '/me/sessions/end');
  assert.match(after.text, /That browser is signed out/);
  assert.equal(after.text.match(/Firefox on Linux <span/g)?.length, 1);
  assert.match((await lost.open('/me')).text, /<h1>Sign in<\/h1>/);
  assert.ok((await lastEvents(id)).includes('session_ended success'));
});

test('somebody else’s session cannot be ended', async () => {
  const [victim, theirs] = await signedIn((await world.addPerson()).email);
  const [browser, page] = await signedIn((await world.addPerson()).email);
  const { rows } = await database.pool.query(
    'select id from browser_session order by created_at desc offset 1 limit 1',
  );
  const csrf = page.forms.find(({ action }) => action === '/sign-out')?.fields.csrf ?? '';
  await browser.request('/me/sessions/end', { csrf, session: String(rows[0]?.id) });
  assert.equal(theirs.status, 200);
  assert.match((await victim.open('/me')).text, /<h1>Your sign-in/);
});

test('a consent is listed; withdrawing it ends its tokens on every node within a second', async () => {
  const { email } = await world.addPerson();
  const [browser] = await signedIn(email);
  const address = `/authorize?scope=PRODUCTION&response_type=code&client_id=${client.clientId}`;
  const answer = await browser.submit(await browser.open(address), { decision: 'allow' });
  const { body } = await postToken(service, {
    grant_type: 'authorization_code',
    code: new URL(answer.location ?? '').searchParams.get('code') ?? '',
    client_id: client.clientId,
    client_secret: clientSecret,
  });
  for (const node of nodes) assert.equal(await isAccepted(node, body.access_token), true);
  const page = await browser.open('/me');
  assert.ok(page.text.includes(client.name));
  const after = await browser.submit(page, {}, '/me/consents/withdraw');
  assert.match(after.text, /can no longer act for you/);
  for (const node of nodes)
    await waitFor(
      'the token to end',
      async () => !(await isAccepted(node, body.access_token)),
      1_000,
    );
  const refreshed = await postToken(service, refreshFields(body.refresh_token, client));
  assert.equal(refreshed.body.error, 'invalid_grant');
});

test('a changed password ends all tokens and other browsers of the person, on every node within a second', async () => {
  const person = await world.addPerson();
  const [other] = await signedIn(person.email);
  const [browser] = await signedIn(person.email);
  const { body } = await postToken(service, passwordFields(person, client));
  for (const node of nodes) assert.equal(await isAccepted(node, body.access_token), true);
  const page = await browser.open('/me/password');
  const next = 'quite another password';
  assert.match((await browser.submit(page, { password, new: 'short' })).text, /at least 12/);
  const wrong = await browser.submit(page, { password: 'wrong', new: next });
  assert.match(wrong.text, /present password is wrong/);
  assert.match((await browser.submit(page, { password, new: next })).text, /password is changed/);
  for (const node of nodes)
    await waitFor(
      'the token to end',
      async () => !(await isAccepted(node, body.access_token)),
      1_000,
    );
  assert.match((await other.open('/me')).text, /<h1>Sign in<\/h1>/);
  assert.equal(
    (await postToken(service, passwordFields(person, client))).body.error,
    'invalid_grant',
  );
  assert.match((await signedIn(person.email, next))[1].text, /<h1>Your sign-in/);
});

test('with a second factor, signing in wants a code; each code works once', async () => {
  const { id, email } = await world.addPerson();
  const secret = await enrol((await signedIn(email))[0]);
  const [browser, page] = await signedIn(email);
  assert.match(page.text, /<h1>Enter your code/);
  assert.match((await browser.open('/me')).text, /<h1>Sign in<\/h1>/, 'not signed in yet');
  const used = await browser.submit(page, { code: codeOf(secret) });
  assert.match(used.text, /was used already/);
  clock.advance(30_000);
  const code = codeOf(secret);
  assert.match((await browser.submit(page, { code })).text, /<h1>Your sign-in/);
  const [again, second] = await signedIn(email);
  assert.match((await again.submit(second, { code })).text, /was used already/);
  assert.deepEqual((await lastEvents(id)).slice(0, 2), [
    'sign_in success',
    'second_factor_added success',
  ]);
});

test('the secret of a second factor stands in the database encrypted only', async () => {
  const { id, email } = await world.addPerson();
  const secret = await enrol((await signedIn(email))[0]);
  const { rows } = await database.pool.query(
    'select encode(secret, $2) as hex from second_factor where person_id = $1',
    [id, 'hex'],
  );
  const plain = Buffer.from(Secret.fromBase32(secret).bytes).toString('hex');
  assert.equal(String(rows[0]?.hex).includes(plain), false);
});

test('a person with a second factor is refused the password grant, the code grant works', async () => {
  const person = await world.addPerson();
  const [browser] = await signedIn(person.email);
  assert.equal((await postToken(service, passwordFields(person, client))).status, 200);
  await enrol(browser);
  const refused = await postToken(service, passwordFields(person, client));
  assert.equal(refused.body.error, 'invalid_grant');
  assert.match(String(refused.body.error_description), /second factor/);
  const wrong = { ...passwordFields(person, client), password: 'wrong' };
  assert.doesNotMatch(
    String((await postToken(service, wrong)).body.error_description),
    /second factor/,
    'a stranger learns nothing of it',
  );
});

test('codes are guessed slowly', async () => {
  const { email } = await world.addPerson();
  const secret = await enrol((await signedIn(email))[0]);
  const [browser, page] = await signedIn(email);
  for (let count = 0; count < 5; count += 1) await browser.submit(page, { code: '000000' });
  const slowed = await browser.submit(page, { code: codeOf(secret, 1) });
  assert.equal(slowed.status, 429);
  assert.ok(Number(slowed.headers.get('retry-after')) >= 1);
});

test('a second factor is removed with one more code', async () => {
  const { email } = await world.addPerson();
  const [browser] = await signedIn(email);
  const secret = await enrol(browser);
  const page = await browser.open('/me/second-factor');
  assert.match((await browser.submit(page, { code: '000000' })).text, /not right/);
  const after = await browser.submit(page, { code: codeOf(secret, 1) });
  assert.match(after.text, /second factor is off/);
  assert.match((await signedIn(email))[1].text, /<h1>Your sign-in/);
});

test('a sign-in lasts twelve hours', async () => {
  const [browser] = await signedIn((await world.addPerson()).email);
  clock.advance(12 * 3_600_000 - 5_000);
  assert.match((await browser.open('/me')).text, /<h1>Your sign-in/);
  clock.advance(5_000);
  assert.match((await browser.open('/me')).text, /<h1>Sign in<\/h1>/);
});

test('a disabled person is signed out everywhere', async () => {
  const { id, email } = await world.addPerson();
  const [browser] = await signedIn(email);
  await database.pool.query('update person set disabled_at = now() where id = $1', [id]);
  assert.match((await browser.open('/me')).text, /<h1>Sign in<\/h1>/);
});
