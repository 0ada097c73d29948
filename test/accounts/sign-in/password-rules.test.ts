import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findGuessReason } from '../../../src/accounts/account/password-strength.ts';
import { sendRequest } from '../../support/send-request.ts';
import {
  openSessionWorld,
  password,
  passwordFields,
  postToken,
} from '../../support/session-world.ts';
import { TestBrowser, type VisitedPage } from '../../support/test-browser.ts';
import { startTestService } from '../../support/test-service.ts';

const { url, database, clock, service, world } = await openSessionWorld({
  movesClock: true,
  worker: false,
});
const strong = await startTestService({
  databaseUrl: url,
  worker: false,
  environment: { PASSWORD_MEMORY: '32' },
});

async function signIn(
  node: { url: string },
  email: string,
  typed = password,
): Promise<[TestBrowser, VisitedPage]> {
  const browser = new TestBrowser(node.url);
  return [browser, await browser.submit(await browser.open('/me'), { email, password: typed })];
}

async function hashOf(email: string): Promise<string> {
  const { rows } = await database.pool.query('select password_hash from person where email = $1', [
    email,
  ]);
  return String(rows[0]?.password_hash);
}

test('ASVS 4.0.3 2.1.7: passwords like common ones, rows of keys, repetitions, dates and personal words are refused', async () => {
  for (const [weak, reason] of [
    ['password1234', /most common/],
    ['iloveyou12345', /most common/],
    ['qwertyuiop[]', /keys|common/],
    ['aaaaaaaaaaaaaa', /It repeats/],
    [`${'abcabcabc'.repeat(10)}`, /It repeats|common/],
    ['ann.lee@shop.test', /belongs to you/],
    ['signalpost2026', /belongs to you/],
  ] as const)
    assert.match(
      (await findGuessReason(weak, ['ann.lee@shop.test', 'Ann Lee'])) ?? '',
      reason,
      weak,
    );
  for (const good of [
    'kitten window marble',
    'a password of my own',
    'V9#kd2!mQz0w',
    'Füße tanzen Walzer',
  ])
    assert.equal(await findGuessReason(good, ['ann.lee@shop.test', 'Ann Lee']), undefined, good);
});

test('ASVS 4.0.3 2.1.7: a common password is refused with the reason, and the old one stays', async () => {
  const { email } = await world.addPerson();
  const [browser] = await signIn(service, email);
  const page = await browser.open('/me/password');
  const refused = await browser.submit(page, { password, new: 'password1234' }, '/me/password');
  assert.equal(refused.status, 422);
  assert.match(
    refused.text,
    /The new password is too easy to guess\. It’s like one of the most common/,
  );
  const personal = await browser.submit(page, { password, new: `${email}1` }, '/me/password');
  assert.match(personal.text, /a name or an address that belongs to you/);
  const [, me] = await signIn(service, email);
  assert.match(me.text, /<h1>Sign-in and security/);
});

test('a password is judged while it is typed by a script of the service, which browsers keep', async () => {
  const { email } = await world.addPerson();
  const [browser] = await signIn(service, email);
  const page = await browser.open('/me/password');
  const version = /<script src="\/password\.js\?v&#61;([\w-]{12})" defer>/.exec(page.text)?.[1];
  assert.ok(version, page.text);
  const path = `/password.js?v=${version}`;
  const { status, text, headers } = await sendRequest(service.url + path);
  assert.equal(status, 200);
  assert.match(headers.get('cache-control') ?? '', /immutable/);
  assert.match(text, /zxcvbnts/);
  const zipped = await fetch(service.url + path, { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(zipped.headers.get('content-encoding'), 'gzip');
  assert.equal(await zipped.text(), text);
});

test('ASVS 4.0.3 2.4.1: when PASSWORD_MEMORY grows, a hash moves to it at the next sign-in, and only with the right password', async () => {
  const { email } = await world.addPerson();
  const before = await hashOf(email);
  assert.match(before, /^\$argon2id\$v=19\$m=1024,t=2,p=1\$/);
  await signIn(strong, email, 'not the password');
  await signIn(service, email);
  assert.equal(await hashOf(email), before);
  await signIn(strong, email);
  const after = await hashOf(email);
  assert.match(after, /^\$argon2id\$v=19\$m=32768,t=2,p=1\$/);
  const [, me] = await signIn(service, email);
  assert.match(me.text, /<h1>Sign-in and security/);
  assert.equal(await hashOf(email), after, 'never back');
});

test('section 5.2: grants at the time when a hash moves to another PASSWORD_MEMORY get their tokens', async () => {
  const person = await world.addPerson();
  const client = await world.addIntegration();
  const before = await hashOf(person.email);
  const responses = await Promise.all(
    Array.from({ length: 4 }, () => postToken(strong, passwordFields(person, client))),
  );
  assert.notEqual(await hashOf(person.email), before);
  for (const { status, text } of responses) assert.equal(status, 200, text);
});

test('ASVS 4.0.3 2.1.4: a password can have any character, and all of them count', async () => {
  const { email } = await world.addPerson();
  const chosen = 'Füße 🦊 αβγ नमस्ते ~';
  const [browser] = await signIn(service, email);
  const page = await browser.open('/me/password');
  const changed = await browser.submit(page, { password, new: chosen }, '/me/password');
  assert.match(changed.text, /Password changed/);
  assert.match(
    (await signIn(service, email, chosen.slice(0, -1)))[1].text,
    /Incorrect email address or password/,
  );
  assert.match((await signIn(service, email, chosen))[1].text, /<h1>Sign-in and security/);
});

test('ASVS 4.0.3 2.1.6: a new password takes the current one', async () => {
  const { email } = await world.addPerson();
  const [browser] = await signIn(service, email);
  const page = await browser.open('/me/password');
  const chosen = 'a password of my own';
  const refused = await browser.submit(page, { password: 'wrong', new: chosen }, '/me/password');
  assert.equal(refused.status, 401);
  assert.match(refused.text, /Incorrect current password/);
  assert.match((await signIn(service, email))[1].text, /<h1>Sign-in and security/);
});

test('ASVS 4.0.3 2.1.10: a password of two years ago still signs in, without a demand to change it', async () => {
  const { email } = await world.addPerson();
  await clock.advance(2 * 365 * 86_400_000);
  assert.match((await signIn(service, email))[1].text, /<h1>Sign-in and security/);
  await clock.reset();
});

test('ASVS 4.0.3 2.1.11: password managers recognize every field, and nothing prevents pasting', async () => {
  const { email } = await world.addPerson();
  const browser = new TestBrowser(service.url);
  const page = await browser.open('/me');
  assert.match(page.text, /name="email"[^>]*autocomplete="username[^"]*"/);
  assert.match(page.text, /name="password"[^>]*autocomplete="current-password"/);
  await browser.submit(page, { email, password });
  const change = await browser.open('/me/password');
  assert.match(change.text, /name="new"[^>]*autocomplete="new-password"/);
  for (const { text } of [page, change])
    assert.doesNotMatch(text, /onpaste|readonly|autocomplete="off"/);
});
