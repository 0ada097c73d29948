import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { challengeMs } from '../../../src/accounts/sign-in/passkey/passkey-challenges.ts';
import { passkeySupport } from '../../../src/accounts/sign-in/passkey/passkeys.ts';
import {
  openSessionWorld,
  password,
  passwordFields,
  postToken,
} from '../../support/session-world.ts';
import { type PasskeyDeviations, SoftwarePasskey } from '../../support/software-passkey.ts';
import { TestBrowser, type VisitedPage } from '../../support/test-browser.ts';
import { startTestService } from '../../support/test-service.ts';

/** What the service calls itself; the tests reach it by its IP address. */
const site = 'http://localhost:3999';
const environment = { PUBLIC_URL: site };
const { url, database, clock, service, world } = await openSessionWorld({
  movesClock: true,
  environment,
});

const signedInPage = /<h1>Sign-in and security/;
const confirmPage = /<h1>Confirm it’s you/;

async function signedIn(email: string): Promise<TestBrowser> {
  const browser = new TestBrowser(service.url, { 'user-agent': 'Firefox/140.0 Linux' });
  await browser.submit(await browser.open('/me'), { email, password });
  return browser;
}

/** The form of a page that asks for a passkey, and its options. */
function promptOn<Options>(page: VisitedPage): { options: Options; action: string } {
  const form = page.forms.find(({ data }) => data.passkey !== undefined);
  assert.ok(form, `no passkey is asked for on ${page.url}`);
  assert.equal(form.data.origin, site);
  return { options: JSON.parse(form.data.options ?? '') as Options, action: form.action };
}

type RegistrationOptions = Parameters<SoftwarePasskey['register']>[0];
type RequestOptions = Parameters<SoftwarePasskey['assert']>[0];

async function addPasskey(
  browser: TestBrowser,
  { name = 'Work laptop', ...deviations }: PasskeyDeviations & { name?: string } = {},
): Promise<{ passkey: SoftwarePasskey; answer: VisitedPage }> {
  const page = await browser.open('/me/passkeys/new');
  const { options, action } = promptOn<RegistrationOptions>(page);
  const passkey = new SoftwarePasskey(site);
  const sent = passkey.register(options, deviations);
  return { passkey, answer: await browser.submit(page, { name, answer: sent }, action) };
}

/** Responds to the passkey request of a page. */
function usePasskey(
  browser: TestBrowser,
  page: VisitedPage,
  passkey: SoftwarePasskey,
  deviations: PasskeyDeviations = {},
): Promise<VisitedPage> {
  const { options, action } = promptOn<RequestOptions>(page);
  return browser.submit(page, { answer: passkey.assert(options, deviations) }, action);
}

async function signInWith(
  passkey: SoftwarePasskey,
  deviations: PasskeyDeviations = {},
): Promise<VisitedPage> {
  const browser = new TestBrowser(service.url);
  return usePasskey(browser, await browser.open('/sign-in?next=/me'), passkey, deviations);
}

/** A person with a passkey, and the browser in which it was added. */
async function passkeyOwner() {
  const person = await world.addPerson();
  const browser = await signedIn(person.email);
  const { passkey, answer } = await addPasskey(browser);
  const recoveryCodes = answer.text.match(/(?<=<code>)(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}/g) ?? [];
  return { person, browser, passkey, recoveryCodes };
}

async function auditOf(personId: string): Promise<string[]> {
  const { rows } = await database.pool.query(
    'select kind, outcome, detail from audit_event where person_id = $1 order by at, id',
    [personId],
  );
  return rows.map(({ kind, outcome, detail }) => `${kind} ${outcome} ${JSON.stringify(detail)}`);
}

test('ASVS 2.3.2: a passkey is added with a name, signs in alone, and shows its last use', async () => {
  const { person, browser, passkey, recoveryCodes } = await passkeyOwner();
  assert.equal(recoveryCodes.length, 10);
  const listed = await browser.open('/me');
  assert.match(listed.text, /Work laptop <span class="soft">Added .* UTC<\/time>, never used/);
  const page = await signInWith(passkey);
  assert.match(page.text, signedInPage);
  assert.match(page.text, /Work laptop <span class="soft">Added .*, last used <time/);
  assert.deepEqual((await auditOf(person.id)).slice(1), [
    'passkey_added success {"name":"Work laptop"}',
    'recovery_codes_made success {}',
    'sign_in success {"passkey":true}',
  ]);
});

test('with a passkey, the password alone signs nobody in: a passkey or a recovery code does', async () => {
  const { person, passkey, recoveryCodes } = await passkeyOwner();
  const client = await world.addIntegration();
  const refused = await postToken(service, passwordFields(person, client));
  assert.match(String(refused.body.error_description), /second factor/);
  const browser = await signedIn(person.email);
  assert.match((await browser.open('/me')).text, /<h1>Sign in<\/h1>/);
  const page = await browser.open('/sign-in/code?next=/me');
  assert.match(page.text, /<h1>Verify it’s you/);
  // After the password, a security key without a PIN is enough.
  const signed = await usePasskey(browser, page, passkey, { verifiesUser: false });
  assert.match(signed.text, signedInPage);
  const lost = await signedIn(person.email);
  const recovery = await lost.open('/sign-in/recovery-code?next=/me');
  assert.match((await lost.submit(recovery, { code: recoveryCodes[0] ?? '' })).text, signedInPage);
});

test('the first passkey signs out the browsers that signed in with the password alone', async () => {
  const { email } = await world.addPerson();
  const other = await signedIn(email);
  await addPasskey(await signedIn(email));
  assert.match((await other.open('/me')).text, /<h1>Sign in<\/h1>/);
});

test('several passkeys: each has a name, one can be removed, and the last takes the recovery codes along', async () => {
  const { person, browser, passkey } = await passkeyOwner();
  const second = await addPasskey(browser, { name: 'Key <ring>' });
  assert.match(second.answer.text, /Passkey added/);
  assert.match(second.answer.text, /Key &#60;ring&#62;/);
  const { rows } = await database.pool.query(
    'select id from passkey where person_id = $1 order by created_at, id',
    [person.id],
  );
  const [first, last] = rows.map(({ id }) => String(id));
  const renamed = await browser.submit(
    await browser.open(`/me/passkeys/${first}`),
    { name: 'Phone' },
    '/me/passkeys/rename',
  );
  assert.match(renamed.text, /Passkey renamed/);
  assert.match(renamed.text, /Phone <span/);
  const remove = async (id: string | undefined) =>
    browser.submit(await browser.open(`/me/passkeys/${id}`), {}, '/me/passkeys/remove');
  assert.match((await remove(first)).text, /Passkey removed/);
  assert.doesNotMatch((await signInWith(passkey)).text, signedInPage);
  assert.match((await signInWith(second.passkey)).text, signedInPage);
  assert.match((await browser.open('/me/second-factor')).text, /You have 10 recovery codes left/);
  await remove(last);
  const { rows: codes } = await database.pool.query(
    'select from recovery_code where person_id = $1',
    [person.id],
  );
  assert.equal(codes.length, 0);
  assert.match(
    await (await signedIn(person.email)).open('/me').then(({ text }) => text),
    signedInPage,
  );
});

test("nobody can rename or remove another person's passkey, or add more than twenty", async () => {
  const { person, passkey } = await passkeyOwner();
  const attacker = await passkeyOwner();
  const { rows } = await database.pool.query('select id from passkey where person_id = $1', [
    person.id,
  ]);
  const victims = String(rows[0]?.id);
  const page = await attacker.browser.open('/me');
  const csrf = page.forms[0]?.fields.csrf ?? '';
  const fields = { csrf, passkey: victims, name: 'Mine' };
  for (const action of ['rename', 'remove'])
    await attacker.browser.request(`/me/passkeys/${action}`, fields);
  assert.match((await signInWith(passkey)).text, /Work laptop <span/);
  await database.pool.query(
    `insert into passkey (id, person_id, credential_id, public_key, sign_count, transports, name, created_at)
     select gen_random_uuid(), $1, decode(md5(n::text || $2), 'hex'), '', 0, '{}', 'x', now()
     from generate_series(1, 19) n`,
    [attacker.person.id, attacker.person.email],
  );
  const more = await addPasskey(attacker.browser);
  assert.equal(more.answer.status, 422);
  assert.match(more.answer.text, /wasn’t added/);
});

test('WebAuthn 7.2: a response is refused if the page, site, key, user, count or kind is wrong', async () => {
  const { passkey } = await passkeyOwner();
  const other = await passkeyOwner();
  const { rows } = await database.pool.query('select id from person where id = $1', [
    other.person.id,
  ]);
  const otherHandle = Buffer.from(String(rows[0]?.id).replaceAll('-', ''), 'hex');
  assert.match((await signInWith(passkey, { signCount: 5 })).text, signedInPage);
  const attacks: Readonly<Record<string, PasskeyDeviations>> = {
    'a page of another site (phishing)': { origin: 'https://localhost.example.com' },
    'another relying party': { rpId: 'example.com' },
    'another key': { forged: true },
    'no PIN, fingerprint or face without the password': { verifiesUser: false },
    'a copied key with an older count': { signCount: 5 },
    'a registration instead of a sign-in': { type: 'webauthn.create' },
    'the user handle of another person': { userHandle: otherHandle.toString('base64url') },
    'no user handle': { userHandle: '' },
    'a challenge of the attacker': { challenge: Buffer.alloc(54, 7).toString('base64url') },
  };
  for (const [attack, deviations] of Object.entries(attacks)) {
    const page = await signInWith(passkey, deviations);
    assert.match(page.text, /passkey wasn’t accepted/, attack);
    assert.match(page.text, /<h1>Sign in<\/h1>/, attack);
  }
});

test('WebAuthn 13.4.3: a challenge works once, for ten minutes, in its browser and for its purpose', async () => {
  const { person, passkey } = await passkeyOwner();
  const browser = new TestBrowser(service.url);
  const page = await browser.open('/sign-in?next=/me');
  const visitor = new Map(browser.cookies);
  const { options, action } = promptOn<RequestOptions>(page);
  const fields = { ...page.forms.find((form) => form.action === action)?.fields };
  const answer = passkey.assert(options);
  assert.match((await browser.submit(page, { answer }, action)).text, signedInPage);
  // The whole request again, with the cookie that it had.
  const thief = new TestBrowser(service.url);
  for (const [name, value] of visitor) thief.cookies.set(name, value);
  const replayed = await thief.request(action, { ...fields, answer });
  assert.match(replayed.location ?? '', /failed=passkey/);

  const stranger = new TestBrowser(service.url);
  const own = await stranger.open('/sign-in?next=/me');
  const foreign = passkey.assert(
    promptOn<RequestOptions>(await new TestBrowser(service.url).open('/sign-in')).options,
  );
  assert.match((await stranger.submit(own, { answer: foreign }, action)).text, /wasn’t accepted/);

  const halfway = await signedIn(person.email);
  const code = await halfway.open('/sign-in/code?next=/me');
  const { challenge } = promptOn<RequestOptions>(own).options;
  assert.match((await usePasskey(halfway, code, passkey, { challenge })).text, /wasn’t accepted/);

  const late = new TestBrowser(service.url);
  const opened = await late.open('/sign-in?next=/me');
  await clock.advance(challengeMs);
  assert.match((await usePasskey(late, opened, passkey)).text, /wasn’t accepted/);
});

test("another person's passkey is no second factor", async () => {
  const { person } = await passkeyOwner();
  const attacker = await passkeyOwner();
  const browser = await signedIn(person.email);
  const page = await browser.open('/sign-in/code?next=/me');
  const refused = await usePasskey(browser, page, attacker.passkey);
  assert.match(refused.text, /wasn’t accepted/);
  assert.match((await browser.open('/me')).text, /<h1>Sign in<\/h1>/);
  assert.ok(
    (await auditOf(person.id)).includes('sign_in refused {"passkey":true,"secondFactor":true}'),
  );
});

test('malformed responses are refused without an error', async () => {
  const { passkey } = await passkeyOwner();
  const browser = new TestBrowser(service.url);
  const page = await browser.open('/sign-in?next=/me');
  const { options, action } = promptOn<RequestOptions>(page);
  const honest = JSON.parse(passkey.assert(options)) as { response: object };
  const { response } = honest;
  for (const answer of [
    '',
    'null',
    '{}',
    '[]',
    '"x"',
    JSON.stringify({ ...honest, id: 'x'.repeat(2_000) }),
    JSON.stringify({ ...honest, response: { ...response, signature: '' } }),
    JSON.stringify({ ...honest, response: { ...response, authenticatorData: 'AA' } }),
    JSON.stringify({ ...honest, response: { ...response, clientDataJSON: 'bnVsbA' } }),
    JSON.stringify({ ...honest, response: { ...response, userHandle: 7 } }),
    JSON.stringify({ ...honest, clientExtensionResults: null }),
  ]) {
    const refused = await browser.submit(page, { answer }, action);
    assert.match(refused.text, /passkey wasn’t accepted/, answer.slice(0, 80));
  }
  const { browser: signed } = await passkeyOwner();
  const register = await signed.open('/me/passkeys/new');
  const sent = { answer: JSON.stringify({ ...honest, response: { attestationObject: 'oA' } }) };
  assert.equal((await signed.submit(register, sent, '/me/passkeys')).status, 422);
});

test('a registration for another site or with an old challenge adds nothing', async () => {
  const browser = await signedIn((await world.addPerson()).email);
  for (const deviations of [
    { origin: 'https://evil.example' },
    { rpId: 'evil.example' },
    { type: 'webauthn.get' },
    { challenge: Buffer.alloc(54, 1).toString('base64url') },
  ])
    assert.equal((await addPasskey(browser, deviations)).answer.status, 422);
  assert.match((await browser.open('/me')).text, /You sign in with your password only/);
});

test('a disabled person has no use of a passkey', async () => {
  const { person, passkey } = await passkeyOwner();
  await database.pool.query('update person set disabled_at = now() where id = $1', [person.id]);
  assert.match((await signInWith(passkey)).text, /wasn’t accepted/);
});

test('ASVS 3.7.1: ten minutes after the sign-in, second factors ask for the passkey, or for password and code', async () => {
  const { person, browser, passkey, recoveryCodes } = await passkeyOwner();
  await clock.advance(10 * 60_000);
  for (const path of ['/me/passkeys/new', '/me/second-factor'])
    assert.match((await browser.open(path)).text, confirmPage, path);
  const csrf = (await browser.open('/me')).forms[0]?.fields.csrf ?? '';
  for (const path of [
    '/me/passkeys',
    '/me/passkeys/rename',
    '/me/passkeys/remove',
    '/me/second-factor/begin',
    '/me/second-factor/confirm',
    '/me/second-factor/recovery-codes',
    '/me/second-factor/remove',
  ])
    assert.match(
      (await browser.request(path, { csrf })).location ?? '',
      /\/sign-in\/confirm/,
      path,
    );

  const page = await browser.open('/me/passkeys/new');
  const wrong = await browser.submit(page, { password: 'wrong', code: 'x' }, '/sign-in/confirm');
  const form = wrong.forms.find(({ fields }) => 'password' in fields)?.fields ?? {};
  const alone = await browser.request('/sign-in/confirm', { ...form, password, code: '' });
  assert.equal(alone.status, 401, 'the password alone is not enough');
  const stolen = new TestBrowser(service.url);
  for (const [name, value] of browser.cookies) stolen.cookies.set(name, value);
  const confirmed = await usePasskey(browser, await browser.open('/me/second-factor'), passkey);
  assert.match(confirmed.text, /<h1>Second factor/);
  // ASVS 3.2.1: a copy of the old cookie has gained nothing.
  assert.match((await stolen.open('/me')).text, /<h1>Sign in<\/h1>/);

  await clock.advance(10 * 60_000);
  const again = await browser.open('/me/second-factor');
  const [code = ''] = recoveryCodes;
  const fields = again.forms.find((it) => 'password' in it.fields)?.fields ?? {};
  const answer = await browser.request('/sign-in/confirm', { ...fields, password, code });
  assert.equal(answer.location, `${service.url}/me/second-factor`);
  assert.match((await browser.open('/me/second-factor')).text, /You have 9 recovery codes left/);
  assert.deepEqual(
    (await auditOf(person.id)).filter((event) => event.startsWith('sign_in_confirmed')),
    [
      'sign_in_confirmed refused {}',
      'sign_in_confirmed refused {}',
      'sign_in_confirmed success {"passkey":true}',
      'sign_in_confirmed success {}',
    ],
  );
});

test('an authenticator app can be added to a passkey, and confirms with its codes', async () => {
  const { browser, passkey } = await passkeyOwner();
  const begun = await browser.submit(
    await browser.open('/me/second-factor'),
    {},
    '/me/second-factor/begin',
  );
  const secret = /class="key"[^>]*><code>([A-Z2-7 ]+)</.exec(begun.text)?.[1] ?? '';
  const totp = new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) });
  const codeAt = (ms: number) => totp.generate({ timestamp: clock.now() + ms });
  assert.match((await browser.submit(begun, { code: codeAt(0) })).text, /Authenticator app set up/);
  await clock.advance(10 * 60_000);
  const page = await browser.open('/me/second-factor');
  const fields = page.forms.find((form) => 'password' in form.fields)?.fields ?? {};
  const confirmed = await browser.request('/sign-in/confirm', {
    ...fields,
    password,
    code: codeAt(0),
  });
  assert.equal(confirmed.status, 303);
  assert.match((await signInWith(passkey)).text, signedInPage);
});

test('passkeys are offered at https and localhost; at an IP address, operators learn why there are none', async () => {
  for (const address of ['https://mail.example.com', 'http://localhost:3000', 'https://localhost'])
    assert.ok('rpId' in passkeySupport(address), address);
  for (const address of ['http://127.0.0.1:3000', 'https://192.0.2.1', 'https://[2001:db8::1]'])
    assert.match(JSON.stringify(passkeySupport(address)), /IP address/, address);
  assert.match(
    JSON.stringify(passkeySupport('http://127.0.0.1:3000')),
    /Set PUBLIC_URL to .* http:\/\/localhost:3000 for/,
  );
  assert.match(JSON.stringify(passkeySupport('http://mail.example.com')), /need https/);
  const plain = await startTestService({ databaseUrl: url, clock });
  const { email } = await world.addPerson();
  const browser = new TestBrowser(plain.url);
  const page = await browser.submit(await browser.open('/me'), { email, password });
  assert.match(page.text, /Not available here\. If you need them, ask an operator\./);
  assert.doesNotMatch((await new TestBrowser(plain.url).open('/sign-in')).text, /passkey/);
  assert.match((await browser.open('/me/passkeys/new')).text, /<h1>Passkeys aren’t available/);
  assert.equal((await browser.open('/me/passkeys')).url, `${plain.url}/me#passkeys`);
  await database.pool.query('update person set operator = true where email = $1', [email]);
  assert.match(
    (await browser.open('/me')).text,
    /Passkeys need a host name, and this service’s address is the IP address 127\.0\.0\.1/,
  );
});
