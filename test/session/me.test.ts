import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { runEarlier } from '../support/run-earlier.ts';
import { sendRequest } from '../support/send-request.ts';
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

const { url, database, clock } = await createTestDatabase();
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
  return (await sendRequest(`${node.url}/api/1/list`, { headers })).status !== 401;
}

function codeOf(secret: string, steps = 0): string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  return totp.generate({ timestamp: clock.now() + steps * 30_000 });
}

/** Turns the second factor on; answers its secret, the code that confirmed it, and the recovery codes. */
async function enrolWithCodes(
  browser: TestBrowser,
): Promise<{ secret: string; used: string; recoveryCodes: string[] }> {
  const page = await browser.submit(await browser.open('/me/second-factor'), { password });
  const secret = (/Or type the key: <code>([A-Z2-7 ]+)</.exec(page.text)?.[1] ?? '').replaceAll(
    ' ',
    '',
  );
  assert.equal(secret.length, 32);
  const used = codeOf(secret);
  const kept = await browser.submit(page, { code: used });
  assert.match(kept.text, /second factor is on/);
  return { secret, used, recoveryCodes: recoveryCodesOn(kept) };
}

/** Turns the second factor on and answers its secret. */
async function enrol(browser: TestBrowser): Promise<string> {
  return (await enrolWithCodes(browser)).secret;
}

function recoveryCodesOn(page: VisitedPage): string[] {
  return page.text.match(/(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}/g) ?? [];
}

/** Gives the password, then a recovery code in the place of the second factor. */
async function signInByRecovery(email: string, code: string): Promise<VisitedPage> {
  const [browser] = await signedIn(email);
  return browser.submit(await browser.open('/sign-in/recovery-code?next=/me'), { code });
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
  const { secret, used } = await enrolWithCodes((await signedIn(email))[0]);
  const [browser, page] = await signedIn(email);
  assert.match(page.text, /<h1>Enter your code/);
  assert.match((await browser.open('/me')).text, /<h1>Sign in<\/h1>/, 'not signed in yet');
  const refused = await browser.submit(page, { code: used });
  assert.match(refused.text, /was used already/);
  await clock.advance(30_000);
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
  const slowed = await runEarlier(clock, () => browser.submit(page, { code: codeOf(secret, 1) }));
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

test('ASVS 2.6.1: ten recovery codes are shown once, and each signs in once without the authenticator', async () => {
  const { id, email } = await world.addPerson();
  const [browser] = await signedIn(email);
  const { recoveryCodes } = await enrolWithCodes(browser);
  assert.equal(new Set(recoveryCodes).size, 10);
  assert.deepEqual(recoveryCodesOn(await browser.open('/me/second-factor')), []);
  const [first = '', second = ''] = recoveryCodes;
  assert.match((await signInByRecovery(email, first)).text, /<h1>Your sign-in/);
  assert.match((await signInByRecovery(email, first)).text, /not right, or was used/);
  const typed = ` ${second.toLowerCase().replaceAll('-', ' ')} `;
  assert.match((await signInByRecovery(email, typed)).text, /<h1>Your sign-in/);
  assert.match((await browser.open('/me/second-factor')).text, /8 recovery codes are left/);
  const { rows } = await database.pool.query(
    'select outcome from audit_event where person_id = $1 and detail @> \'{"recoveryCode": true}\' order by id',
    [id],
  );
  assert.deepEqual(
    rows.map(({ outcome }) => outcome),
    ['success', 'refused', 'success'],
  );
});

test('of two uses of one recovery code at the same instant one signs in', async () => {
  const { email } = await world.addPerson();
  const { recoveryCodes } = await enrolWithCodes((await signedIn(email))[0]);
  for (const code of recoveryCodes.slice(0, 4)) {
    const pages = await Promise.all([signInByRecovery(email, code), signInByRecovery(email, code)]);
    assert.equal(pages.filter(({ text }) => text.includes('<h1>Your sign-in')).length, 1);
  }
});

test('ASVS 2.6.2: recovery codes stand in the database hashed under the key, bound to their person', async () => {
  const one = await world.addPerson();
  const other = await world.addPerson();
  const { recoveryCodes } = await enrolWithCodes((await signedIn(one.email))[0]);
  await enrol((await signedIn(other.email))[0]);
  const [code = ''] = recoveryCodes;
  const bare = code.replaceAll('-', '');
  const { rows } = await database.pool.query(
    `select hash in (sha256($2::text::bytea), sha256($3::text::bytea)) as unkeyed,
       position($3::text::bytea in hash) > 0 as plain
     from recovery_code where person_id = $1`,
    [one.id, code, bare],
  );
  assert.equal(rows.length, 10);
  assert.equal(
    rows.some(({ unkeyed, plain }) => unkeyed || plain),
    false,
  );
  assert.match((await signInByRecovery(other.email, code)).text, /not right/);
  const { rows: logged } = await database.pool.query(
    'select detail::text as detail from audit_event',
  );
  assert.equal(
    logged.some(({ detail }) => recoveryCodes.some((one) => String(detail).includes(one))),
    false,
  );
});

test('new recovery codes end the old ones, and need a code themselves', async () => {
  const { id, email } = await world.addPerson();
  const [browser] = await signedIn(email);
  const { secret, recoveryCodes } = await enrolWithCodes(browser);
  const [old = '', spent = ''] = recoveryCodes;
  const renew = async (code: string) => {
    const { forms } = await browser.open('/me/second-factor');
    return browser.request('/me/second-factor/recovery-codes', { ...forms[0]?.fields, code });
  };
  const refused = await renew('000000');
  assert.equal(refused.status, 401);
  assert.deepEqual(recoveryCodesOn(refused), []);
  assert.equal(recoveryCodesOn(await renew(codeOf(secret, 1))).length, 10);
  assert.match((await signInByRecovery(email, old)).text, /not right/);
  assert.equal((await renew(spent)).status, 401);
  const [made] = (await lastEvents(id)).filter((event) => event.startsWith('recovery_codes_made'));
  assert.equal(made, 'recovery_codes_made success');
});

test('without the authenticator, a recovery code also removes the second factor, and all codes go with it', async () => {
  const { id, email } = await world.addPerson();
  const [browser] = await signedIn(email);
  const { recoveryCodes } = await enrolWithCodes(browser);
  const page = await browser.open('/me/second-factor');
  assert.match((await browser.submit(page, { code: recoveryCodes[0] ?? '' })).text, /is off/);
  const { rows } = await database.pool.query('select from recovery_code where person_id = $1', [
    id,
  ]);
  assert.equal(rows.length, 0);
});

test('recovery codes are guessed slowly, together with the authenticator’s', async () => {
  const { email } = await world.addPerson();
  const { recoveryCodes } = await enrolWithCodes((await signedIn(email))[0]);
  const [browser] = await signedIn(email);
  for (let count = 0; count < 5; count += 1) {
    const path = count % 2 === 0 ? '/sign-in/code' : '/sign-in/recovery-code';
    await browser.submit(await browser.open(path), { code: '000000' });
  }
  const slowed = await runEarlier(clock, () => signInByRecovery(email, recoveryCodes[0] ?? ''));
  assert.equal(slowed.status, 429);
});

test('nobody gets to a recovery code without the password', async () => {
  const { email } = await world.addPerson();
  const { recoveryCodes } = await enrolWithCodes((await signedIn(email))[0]);
  const stranger = new TestBrowser(service.url);
  const sign = await stranger.open('/sign-in/recovery-code');
  assert.match(sign.text, /<h1>Sign in<\/h1>/);
  const { fields } = sign.forms[0] ?? { fields: {} };
  await stranger.request('/sign-in/recovery-code', { ...fields, code: recoveryCodes[0] ?? '' });
  assert.match((await stranger.open('/me')).text, /<h1>Sign in<\/h1>/);
});

test('a sign-in lasts twelve hours', async () => {
  const [browser] = await signedIn((await world.addPerson()).email);
  await clock.advance(12 * 3_600_000 - 5_000);
  assert.match((await browser.open('/me')).text, /<h1>Your sign-in/);
  await clock.advance(5_000);
  assert.match((await browser.open('/me')).text, /<h1>Sign in<\/h1>/);
});

test('a disabled person is signed out everywhere', async () => {
  const { id, email } = await world.addPerson();
  const [browser] = await signedIn(email);
  await database.pool.query('update person set disabled_at = now() where id = $1', [id]);
  assert.match((await browser.open('/me')).text, /<h1>Sign in<\/h1>/);
});
