import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { runEarlier } from '../../support/run-earlier.ts';
import { sendRequest } from '../../support/send-request.ts';
import {
  clientSecret,
  openSessionWorld,
  password,
  passwordFields,
  postToken,
  refreshFields,
} from '../../support/session-world.ts';
import { TestBrowser, type VisitedPage } from '../../support/test-browser.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, clock, service, world, startOther } = await openSessionWorld({
  movesClock: true,
});
const nodes = [service, await startOther()] as const;
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

/** Turns on the second factor; returns its secret, the confirming code and the recovery codes. */
async function enrolWithCodes(
  browser: TestBrowser,
): Promise<{ secret: string; used: string; recoveryCodes: string[] }> {
  const page = await browser.submit(
    await browser.open('/me/second-factor'),
    {},
    '/me/second-factor/begin',
  );
  const secret = (/class="key"[^>]*><code>([A-Z2-7 ]+)</.exec(page.text)?.[1] ?? '').replaceAll(
    ' ',
    '',
  );
  assert.equal(secret.length, 32);
  const used = codeOf(secret);
  const kept = await browser.submit(page, { code: used });
  assert.match(kept.text, /second factor is on/);
  return { secret, used, recoveryCodes: recoveryCodesOn(kept) };
}

/** Turns on the second factor and returns its secret. */
async function enrol(browser: TestBrowser): Promise<string> {
  return (await enrolWithCodes(browser)).secret;
}

function recoveryCodesOn(page: VisitedPage): string[] {
  return page.text.match(/(?<=<code>)(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}/g) ?? [];
}

/** Enters the password, then a recovery code instead of the second factor. */
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

test('the personal page requires a sign-in and returns to the requested page', async () => {
  const { email } = await world.addPerson();
  const browser = new TestBrowser(service.url);
  const page = await browser.open('/me/password');
  assert.match(page.text, /<h1>Sign in<\/h1>/);
  assert.match((await browser.submit(page, { email, password })).text, /<h1>Change your password/);
});

test('a page whose address is too long to come back to asks to sign in all the same', async () => {
  const { email } = await world.addPerson();
  const browser = new TestBrowser(service.url);
  const page = await browser.open(`/me/passkeys/${'%41'.repeat(3_000)}`);
  assert.match(page.text, /<h1>Sign in<\/h1>/);
  const me = await browser.submit(page, { email, password });
  assert.match(me.text, /<h1>Sign-in and security/);
});

test('browsers are listed, and another one is signed out at once on every node', async () => {
  const { id, email } = await world.addPerson();
  const [lost] = await signedIn(email);
  const [browser, page] = await signedIn(email);
  assert.match(page.text, /This browser/);
  assert.equal(page.text.match(/Firefox on Linux <span/g)?.length, 2);
  const after = await browser.submit(page, {}, '/me/sessions/end');
  assert.match(after.text, /Browser signed out/);
  assert.equal(after.text.match(/Firefox on Linux <span/g)?.length, 1);
  assert.match((await lost.open('/me')).text, /<h1>Sign in<\/h1>/);
  assert.ok((await lastEvents(id)).includes('session_ended success'));
});

test('all other browsers are signed out at once, and the list says when and from where each was last used', async () => {
  const { id, email } = await world.addPerson();
  const [lost] = await signedIn(email);
  const [browser, page] = await signedIn(email);
  assert.match(
    page.text,
    /Last used <time [^>]*>[^<]+<\/time> from 127\.0\.0\.1 \(this machine\)<br>Signed in <time /,
  );
  const after = await browser.submit(page, {}, '/me/sessions/end-others');
  assert.match(after.text, /All other browsers signed out/);
  assert.doesNotMatch(after.text, /end-others/);
  assert.match((await lost.open('/me')).text, /<h1>Sign in<\/h1>/);
  assert.ok((await lastEvents(id)).includes('sessions_ended success'));
});

test('ASVS 4.0.3 3.3.2: a session ends 12 hours after its last use, and 7 days after the sign-in', async () => {
  const hour = 3_600_000;
  const isSignedIn = async (browser: TestBrowser) =>
    /<h1>Sign-in and security/.test((await browser.open('/me')).text);
  const [unused] = await signedIn((await world.addPerson()).email);
  const [used] = await signedIn((await world.addPerson()).email);
  for (let hours = 0; hours < 166; hours += 11) {
    assert.equal(await isSignedIn(used), true, `after ${hours} hours`);
    await clock.advance(11 * hour);
    if (hours === 0) await clock.advance(2 * 60_000);
    if (hours === 11) assert.equal(await isSignedIn(unused), false);
  }
  assert.equal(await isSignedIn(used), false);
  await clock.reset();
});

test("another person's session can't be ended", async () => {
  const [victim, theirs] = await signedIn((await world.addPerson()).email);
  const [browser, page] = await signedIn((await world.addPerson()).email);
  const { rows } = await database.pool.query(
    'select id from browser_session order by created_at desc offset 1 limit 1',
  );
  const csrf = page.forms.find(({ action }) => action === '/sign-out')?.fields.csrf ?? '';
  await browser.request('/me/sessions/end', { csrf, session: String(rows[0]?.id) });
  assert.equal(theirs.status, 200);
  assert.match((await victim.open('/me')).text, /<h1>Sign-in and security/);
});

test('a consent is listed; withdrawing it revokes its tokens on every node within a second', async () => {
  const { email } = await world.addPerson();
  const [browser] = await signedIn(email);
  const address = `/authorize?scope=PRODUCTION&response_type=code&client_id=${client.clientId}`;
  const response = await browser.submit(await browser.open(address), { decision: 'allow' });
  const { body } = await postToken(service, {
    grant_type: 'authorization_code',
    code: new URL(response.location ?? '').searchParams.get('code') ?? '',
    client_id: client.clientId,
    client_secret: clientSecret,
  });
  for (const node of nodes) assert.equal(await isAccepted(node, body.access_token), true);
  const page = await browser.open('/me');
  assert.ok(page.text.includes(client.name));
  const after = await browser.submit(page, {}, '/me/consents/withdraw');
  assert.match(after.text, /Integration access revoked/);
  for (const node of nodes)
    await waitFor(
      'the token to end',
      async () => !(await isAccepted(node, body.access_token)),
      1_000,
    );
  const refreshed = await postToken(service, refreshFields(body.refresh_token, client));
  assert.equal(refreshed.body.error, 'invalid_grant');
});

test('changing the password revokes all tokens and other browsers of the person, on every node within a second', async () => {
  const person = await world.addPerson();
  const [other] = await signedIn(person.email);
  const [browser] = await signedIn(person.email);
  const { body } = await postToken(service, passwordFields(person, client));
  for (const node of nodes) assert.equal(await isAccepted(node, body.access_token), true);
  const page = await browser.open('/me/password');
  const next = 'quite another password';
  assert.match((await browser.submit(page, { password, new: 'short' })).text, /at least 12/);
  const wrong = await browser.submit(page, { password: 'wrong', new: next });
  assert.match(wrong.text, /Incorrect current password/);
  assert.match((await browser.submit(page, { password, new: next })).text, /Password changed/);
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
  assert.match((await signedIn(person.email, next))[1].text, /<h1>Sign-in and security/);
});

test('with a second factor, signing in requires a code; each code works once', async () => {
  const { id, email } = await world.addPerson();
  const { secret, used } = await enrolWithCodes((await signedIn(email))[0]);
  const [browser, page] = await signedIn(email);
  assert.match(page.text, /<h1>Enter your code/);
  assert.match((await browser.open('/me')).text, /<h1>Sign in<\/h1>/, 'not signed in yet');
  const refused = await browser.submit(page, { code: used });
  assert.match(refused.text, /already used code/);
  await clock.advance(30_000);
  const code = codeOf(secret);
  assert.match((await browser.submit(page, { code })).text, /<h1>Sign-in and security/);
  const [again, second] = await signedIn(email);
  assert.match((await again.submit(second, { code })).text, /already used code/);
  assert.deepEqual((await lastEvents(id)).slice(0, 2), [
    'sign_in success',
    'second_factor_added success',
  ]);
});

test('the secret of a second factor is stored encrypted', async () => {
  const { id, email } = await world.addPerson();
  const secret = await enrol((await signedIn(email))[0]);
  const { rows } = await database.pool.query(
    'select encode(secret, $2) as hex from second_factor where person_id = $1',
    [id, 'hex'],
  );
  const plain = Buffer.from(Secret.fromBase32(secret).bytes).toString('hex');
  assert.equal(String(rows[0]?.hex).includes(plain), false);
});

test('a person with a second factor is refused the password grant, but the code grant works', async () => {
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
    'an attacker learns nothing about it',
  );
});

test('guessing codes is throttled', async () => {
  const { email } = await world.addPerson();
  const secret = await enrol((await signedIn(email))[0]);
  const [browser, page] = await signedIn(email);
  for (let count = 0; count < 5; count += 1) await browser.submit(page, { code: '000000' });
  const slowed = await runEarlier(clock, () => browser.submit(page, { code: codeOf(secret, 1) }));
  assert.equal(slowed.status, 429);
  assert.ok(Number(slowed.headers.get('retry-after')) >= 1);
});

test('a wrong first code keeps the QR code, and another browser can’t get the pending key', async () => {
  const { email } = await world.addPerson();
  const [browser] = await signedIn(email);
  const keyOn = (page: VisitedPage) =>
    /class="key"[^>]*><code>([A-Z2-7 ]+)</.exec(page.text)?.[1]?.replaceAll(' ', '');
  const page = await browser.submit(
    await browser.open('/me/second-factor'),
    {},
    '/me/second-factor/begin',
  );
  const key = keyOn(page) ?? '';
  const wrong = await browser.submit(page, { code: '000000' });
  assert.equal(wrong.status, 401);
  assert.match(wrong.text, /Incorrect or already used code/);
  assert.equal(keyOn(wrong), key);
  assert.match(wrong.text, /<svg/);
  const [thief, { forms }] = await signedIn(email);
  const csrf = forms[0]?.fields.csrf ?? '';
  const confirm = (secret: string) =>
    thief.request('/me/second-factor/confirm', { csrf, secret, code: '000000' });
  for (const guess of ['', 'A'.repeat(32), `${key}A`]) {
    const { text } = await confirm(guess);
    assert.equal(text.includes(key.slice(0, 4)), false);
    assert.match(text, /Start again/);
  }
  const slowed = await runEarlier(clock, async () => {
    let last = wrong;
    while (last.status === 401) last = await browser.submit(last, { code: '000000' });
    return last;
  });
  assert.equal(slowed.status, 429);
  assert.ok(Number(slowed.headers.get('retry-after')) >= 1);
  assert.equal(keyOn(slowed), key);
  await clock.advance(120_000);
  const kept = await browser.submit(slowed, { code: codeOf(key) });
  assert.match(kept.text, /second factor is on/);
  assert.match((await browser.submit(page, { code: '000000' })).text, /Start again/);
});

test('without the authenticator app, the password alone signs in, and all recovery codes are gone', async () => {
  const { id, email } = await world.addPerson();
  const [browser] = await signedIn(email);
  await enrol(browser);
  const page = await browser.open('/me/second-factor');
  const after = await browser.submit(page, {}, '/me/second-factor/remove');
  assert.match(after.text, /Authenticator app removed/);
  assert.match((await signedIn(email))[1].text, /<h1>Sign-in and security/);
  const { rows } = await database.pool.query('select from recovery_code where person_id = $1', [
    id,
  ]);
  assert.equal(rows.length, 0);
});

test('the first second factor signs out the browsers that signed in with the password alone', async () => {
  const { email } = await world.addPerson();
  const [other] = await signedIn(email);
  const [browser] = await signedIn(email);
  await enrol(browser);
  assert.match((await other.open('/me')).text, /<h1>Sign in<\/h1>/);
  assert.match((await browser.open('/me')).text, /<h1>Sign-in and security/);
});

test('ASVS 2.6.1: ten recovery codes are shown once, and each signs in once without the authenticator', async () => {
  const { id, email } = await world.addPerson();
  const [browser] = await signedIn(email);
  const { recoveryCodes } = await enrolWithCodes(browser);
  assert.equal(new Set(recoveryCodes).size, 10);
  assert.deepEqual(recoveryCodesOn(await browser.open('/me/second-factor')), []);
  const [first = '', second = ''] = recoveryCodes;
  assert.match((await signInByRecovery(email, first)).text, /<h1>Sign-in and security/);
  assert.match(
    (await signInByRecovery(email, first)).text,
    /Incorrect or already used recovery code/,
  );
  const typed = ` ${second.toLowerCase().replaceAll('-', ' ')} `;
  assert.match((await signInByRecovery(email, typed)).text, /<h1>Sign-in and security/);
  assert.match((await browser.open('/me/second-factor')).text, /You have 8 recovery codes left/);
  const { rows } = await database.pool.query(
    'select outcome from audit_event where person_id = $1 and detail @> \'{"recoveryCode": true}\' order by id',
    [id],
  );
  assert.deepEqual(
    rows.map(({ outcome }) => outcome),
    ['success', 'refused', 'success'],
  );
});

test('of two concurrent uses of one recovery code, one signs in', async () => {
  const { email } = await world.addPerson();
  const { recoveryCodes } = await enrolWithCodes((await signedIn(email))[0]);
  for (const code of recoveryCodes.slice(0, 4)) {
    const pages = await Promise.all([signInByRecovery(email, code), signInByRecovery(email, code)]);
    assert.equal(pages.filter(({ text }) => text.includes('<h1>Sign-in and security')).length, 1);
  }
});

test('ASVS 2.6.2: recovery codes are stored hashed under the key and bound to their person', async () => {
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
  assert.match(
    (await signInByRecovery(other.email, code)).text,
    /Incorrect or already used recovery code/,
  );
  const { rows: logged } = await database.pool.query(
    'select detail::text as detail from audit_event',
  );
  assert.equal(
    logged.some(({ detail }) => recoveryCodes.some((one) => String(detail).includes(one))),
    false,
  );
});

test('new recovery codes replace the old ones', async () => {
  const { id, email } = await world.addPerson();
  const [browser] = await signedIn(email);
  const { recoveryCodes } = await enrolWithCodes(browser);
  const page = await browser.open('/me/second-factor');
  const renewed = await browser.submit(page, {}, '/me/second-factor/recovery-codes');
  assert.equal(recoveryCodesOn(renewed).length, 10);
  const [old = ''] = recoveryCodes;
  assert.match(
    (await signInByRecovery(email, old)).text,
    /Incorrect or already used recovery code/,
  );
  const made = (await lastEvents(id)).filter((event) => event.startsWith('recovery_codes_made'));
  assert.deepEqual(made, ['recovery_codes_made success', 'recovery_codes_made success']);
});

test('guessing recovery codes is throttled, together with the authenticator’s codes', async () => {
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

test('a recovery code requires the password first', async () => {
  const { email } = await world.addPerson();
  const { recoveryCodes } = await enrolWithCodes((await signedIn(email))[0]);
  const stranger = new TestBrowser(service.url);
  const sign = await stranger.open('/sign-in/recovery-code');
  assert.match(sign.text, /<h1>Sign in<\/h1>/);
  const { fields } = sign.forms[0] ?? { fields: {} };
  await stranger.request('/sign-in/recovery-code', { ...fields, code: recoveryCodes[0] ?? '' });
  assert.match((await stranger.open('/me')).text, /<h1>Sign in<\/h1>/);
});

test('a disabled person is signed out everywhere', async () => {
  const { id, email } = await world.addPerson();
  const [browser] = await signedIn(email);
  await database.pool.query('update person set disabled_at = now() where id = $1', [id]);
  assert.match((await browser.open('/me')).text, /<h1>Sign in<\/h1>/);
});
