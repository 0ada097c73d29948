import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { TokenMint } from '../../src/accounts/access/token-mint.ts';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { createPasswordLink } from '../../src/accounts/sign-in/one-time-link-store.ts';
import { openSessionWorld, password } from '../../test/support/session-world.ts';
import { signedInManager } from '../../test/support/signed-in-manager.ts';
import { linkIn, systemMailTo } from '../../test/support/system-mail-reader.ts';
import { startTestService, testKey } from '../../test/support/test-service.ts';
import { lookAt, newVisitor, openChromium, openPage } from '../support/open-chromium.ts';

const { url, database, service, world } = await openSessionWorld();
await world.addAccount('2000');

/** The integration's own site, which echoes its request. */
const site = createServer((request, response) => {
  response.setHeader('content-type', 'text/plain');
  response.end(`called ${request.url ?? ''}`);
});
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
after(() => site.close());
const redirectUri = `http://127.0.0.1:${(site.address() as AddressInfo).port}/callback`;
const client = await world.addIntegration({ name: 'Parcel <b>Tracker</b>', redirectUri });
const start = `${service.url}/authorize?${new URLSearchParams({
  scope: 'PRODUCTION',
  response_type: 'code',
  client_id: client.clientId,
  state: 'xyz',
})}`;
const browser = await openChromium();

async function signIn(page: Page, email: string, typed = password): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(typed);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** A code that isn't valid now or soon. */
function wrongCode(totp: TOTP): string {
  const near = [-1, 0, 1, 2].map((steps) =>
    totp.generate({ timestamp: Date.now() + steps * 30_000 }),
  );
  return (
    ['000000', '111111', '222222', '333333', '444444'].find((code) => !near.includes(code)) ?? ''
  );
}

for (const [device, options] of [
  ['desk', {}],
  ['phone', { phone: true }],
] as const) {
  const dark = device === 'desk';
  test(`sign-in, wrong password, two accounts, consent, on a ${device}`, async () => {
    const person = await world.addPerson({ accounts: ['1000', '2000'] });
    const visitor = await newVisitor(browser, options);
    const { page, complaints } = await openPage(visitor);
    await page.goto(start);
    await lookAt(page, `sign-in-${device}`, { dark });
    await signIn(page, person.email, 'wrong password');
    assert.match(
      (await page.getByRole('alert').textContent()) ?? '',
      /Incorrect email address or password/,
    );
    assert.equal(await page.getByLabel('Email address').inputValue(), person.email);
    await lookAt(page, `sign-in-wrong-${device}`, { dark });
    await signIn(page, person.email);
    assert.equal(
      await page.getByRole('heading', { level: 1 }).textContent(),
      `${client.name} wants access to your account`,
    );
    await lookAt(page, `consent-${device}`, { dark });
    await page.getByLabel('Shop 2000').check();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`${redirectUri}?**`);
    const called = new URL(page.url());
    assert.match(called.searchParams.get('code') ?? '', /^spc_/);
    assert.equal(called.searchParams.get('state'), 'xyz');
    assert.equal(called.searchParams.get('iss'), service.url);
    assert.deepEqual(complaints, []);
    await visitor.close();
  });
}

test('signing in and allowing work without scripts and with the keyboard alone', async () => {
  const person = await world.addPerson();
  const visitor = await newVisitor(browser, { script: false });
  const page = await visitor.newPage();
  await page.goto(start);
  await page.keyboard.press('Tab');
  await page.keyboard.type(person.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /wants access/ }).waitFor();
  await page.getByRole('button', { name: 'Allow' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${redirectUri}?**`);
  assert.match(page.url(), /code=spc_/);
  await visitor.close();
});

test('declining returns access_denied to the integration and no code', async () => {
  const person = await world.addPerson();
  const visitor = await newVisitor(browser);
  const { page, complaints } = await openPage(visitor);
  await page.goto(start);
  await signIn(page, person.email);
  await page.getByRole('button', { name: 'Decline' }).click();
  await page.waitForURL(`${redirectUri}?**`);
  const called = new URL(page.url());
  assert.equal(called.searchParams.get('error'), 'access_denied');
  assert.equal(called.searchParams.has('code'), false);
  assert.deepEqual(complaints, []);
  await visitor.close();
});

test('an expired page shows a message and works on the second try', async () => {
  const person = await world.addPerson();
  const visitor = await newVisitor(browser);
  const { page } = await openPage(visitor);
  await page.goto(start);
  await visitor.clearCookies();
  await signIn(page, person.email);
  assert.match((await page.getByRole('status').textContent()) ?? '', /page expired/);
  await lookAt(page, 'sign-in-expired');
  await signIn(page, person.email);
  await page.getByRole('heading', { name: /wants access/ }).waitFor();
  await visitor.clearCookies();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await visitor.close();
});

test('the back button works after signing in and after allowing', async () => {
  const person = await world.addPerson();
  const visitor = await newVisitor(browser);
  const { page } = await openPage(visitor);
  await page.goto(start);
  await signIn(page, person.email);
  await page.getByRole('heading', { name: /wants access/ }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: /wants access/ }).waitFor();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.waitForURL(`${redirectUri}?**`);
  await page.goBack();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.waitForURL(`${redirectUri}?**`);
  assert.match(page.url(), /code=spc_/);
  await visitor.close();
});

test('a person can switch to another sign-in', async () => {
  const [first, second] = [await world.addPerson(), await world.addPerson()];
  const visitor = await newVisitor(browser);
  const { page } = await openPage(visitor);
  await page.goto(start);
  await signIn(page, first.email);
  await page.getByRole('button', { name: 'Sign in as someone else' }).click();
  await signIn(page, second.email);
  assert.match((await page.locator('main').textContent()) ?? '', new RegExp(second.email));
  await visitor.close();
});

test('a second factor is set up, required at sign-in, and replaced by a recovery code', async () => {
  const person = await world.addPerson();
  const visitor = await newVisitor(browser, { phone: true });
  const { page, complaints } = await openPage(visitor);
  await page.goto(`${service.url}/me`);
  await signIn(page, person.email);
  await lookAt(page, 'me-phone');
  await page.getByRole('link', { name: 'Add second factor' }).click();
  await lookAt(page, 'second-factor-begin');
  // The sign-in is recent enough to change it without the password.
  await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
  await page.getByLabel('6-digit code').waitFor();
  await lookAt(page, 'second-factor-scan');
  const secret = Secret.fromBase32(
    ((await page.locator('code').textContent()) ?? '').replaceAll(' ', ''),
  );
  const totp = new TOTP({ secret });
  const code = page.getByRole('img', { name: 'QR code with the key below' });
  const picture = await code.innerHTML();
  await page.getByLabel('6-digit code').fill(wrongCode(totp));
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('alert').waitFor();
  assert.equal(await code.innerHTML(), picture, 'the same QR code');
  await lookAt(page, 'second-factor-wrong-first');
  await page.getByLabel('6-digit code').fill(totp.generate());
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
  await lookAt(page, 'recovery-codes');
  await visitor.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.deepEqual(copied.split('\n'), await page.locator('ul.codes code').allTextContents());
  const [recoveryCode = ''] = await page.locator('ul.codes code').allTextContents();
  await page.getByRole('link', { name: 'I’ve saved them' }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.goto(`${service.url}/sign-in?next=/me`);
  await signIn(page, person.email);
  await lookAt(page, 'second-factor-code');
  await page.getByLabel('6-digit code').fill('000000');
  await page.getByRole('button', { name: 'Continue' }).click();
  assert.match((await page.getByRole('alert').textContent()) ?? '', /Incorrect or already used/);
  await lookAt(page, 'second-factor-wrong');
  await page.getByLabel('6-digit code').fill(totp.generate({ timestamp: Date.now() + 30_000 }));
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Sign-in and security' }).waitFor();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.goto(`${service.url}/sign-in?next=/me`);
  await signIn(page, person.email);
  await page.getByRole('link', { name: 'Use a recovery code' }).click();
  await lookAt(page, 'recovery-code');
  await page.getByLabel('Recovery code').fill('ABCD-EFGH-IJKL-MNOP');
  await page.getByRole('button', { name: 'Continue' }).click();
  assert.match((await page.getByRole('alert').textContent()) ?? '', /Incorrect or already used/);
  await lookAt(page, 'recovery-code-wrong');
  await page.getByLabel('Recovery code').fill(recoveryCode);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('link', { name: 'Manage second factor' }).click();
  await page.getByText('You have 9 recovery codes left').waitFor();
  await lookAt(page, 'second-factor-state');
  assert.deepEqual(complaints, []);
  await visitor.close();
});

test('the personal page signs out browsers and revokes integrations', async () => {
  const person = await world.addPerson();
  for (const agent of ['one', 'two']) {
    const visitor = await newVisitor(browser);
    const { page } = await openPage(visitor);
    await page.goto(start);
    await signIn(page, person.email);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`${redirectUri}?**`);
    if (agent === 'one') continue;
    await page.goto(`${service.url}/me`);
    await lookAt(page, 'me-desk');
    await page.getByRole('button', { name: /^Sign out .* at / }).click();
    await page.getByText('Browser signed out.').waitFor();
    await page.getByRole('button', { name: /^Revoke/ }).click();
    await page.getByText('Integration access revoked.').waitFor();
    await page.goto(`${service.url}/me/password`);
    await lookAt(page, 'change-password');
  }
});

test('an invited person sees who invites them to what, and joins with a password of their own', async () => {
  const host = await world.addPerson();
  await saveMembership(database.kysely, {
    accountId: world.accountId,
    personId: host.id,
    role: 'owner',
  });
  const manager = await signedInManager(service, host.email);
  const email = 'guest@people.test';
  const invited = await manager.put(`/accounts/${world.accountId}/users/${email}`, {
    role: 'viewer',
  });
  assert.equal(invited.status, 201, invited.text);
  const link = linkIn(await systemMailTo(service.url, email, /invited/), 'invitation');
  const visitor = await newVisitor(browser, { phone: true });
  const { page, complaints } = await openPage(visitor);
  await page.goto(link);
  await page.getByRole('heading', { name: /^Join / }).waitFor();
  await page.getByText(`(${host.email}) invited ${email}`).waitFor();
  await lookAt(page, 'invitation');
  await page.getByLabel('Your name').fill('Gus Guest');
  await page.getByLabel('Password').fill('a password of my own');
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('heading', { name: /^Join / }).waitFor({ state: 'detached' });
  await lookAt(page, 'invitation-accepted');
  await page.goto(link);
  await page.getByText('Invitation no longer valid').waitFor();
  await lookAt(page, 'invitation-used');
  assert.deepEqual(complaints, []);
  await visitor.close();
});

test('an invalid authorization link shows a page', async () => {
  const visitor = await newVisitor(browser);
  const { page } = await openPage(visitor);
  await page.goto(`${service.url}/authorize?client_id=nobody`);
  await lookAt(page, 'unusable-link');
  await visitor.close();
});

test('pages cannot be framed, and other sites cannot submit their forms', async () => {
  const person = await world.addPerson();
  const visitor = await newVisitor(browser);
  const { page } = await openPage(visitor);
  await page.goto(start);
  await signIn(page, person.email);
  await page.getByRole('heading', { name: /wants access/ }).waitFor();
  await page.goto(`${redirectUri}?attack`);
  await page.evaluate(
    `document.body.innerHTML = '<iframe src="${start}"></iframe><form method="post" action="${start}"><input name="decision" value="allow"><input name="account" value="1000"></form>'`,
  );
  const framed = page.frames()[1];
  await framed?.waitForLoadState();
  assert.equal(await framed?.getByRole('heading', { name: /wants access/ }).count(), 0);
  await page.evaluate('document.forms[0].submit()');
  await page.waitForURL(`${service.url}/**`);
  assert.equal(page.url().includes('code='), false);
  const { rows } = await database.pool.query('select from grant_code where person_id = $1', [
    person.id,
  ]);
  assert.equal(rows.length, 0);
  await visitor.close();
});

test('a password is requested and set through a link', async () => {
  const person = await world.addPerson();
  const mailing = await startTestService({ databaseUrl: url });
  const visitor = await newVisitor(browser, { phone: true });
  const { page, complaints } = await openPage(visitor);
  await page.goto(`${mailing.url}/sign-in`);
  await page.getByRole('link', { name: 'Forgot password?' }).click();
  await lookAt(page, 'forgot-password');
  await page.getByLabel('Email address').fill('nobody@shop.test');
  await page.getByRole('button', { name: 'Send link' }).click();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  await lookAt(page, 'forgot-password-sent');
  const link = new TokenMint(testKey).mint('link');
  await createPasswordLink(database.kysely, person.id, link.hash);
  await page.goto(`${mailing.url}/set-password/${link.text}`);
  assert.equal(new URL(page.url()).pathname, '/set-password');
  await lookAt(page, 'set-password');
  await page.getByLabel('New password').fill('short');
  await page.getByText('7 more characters.').waitFor();
  await page.getByLabel('New password').fill('iloveyou12345');
  await page.getByText('Too easy to guess. It’s like one of the most common ones.').waitFor();
  await lookAt(page, 'set-password-weak');
  await page.getByLabel('New password').fill('a password of my own');
  await page.getByText('Very hard to guess.').waitFor();
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await signIn(page, person.email, 'a password of my own');
  await page.waitForURL(/\/console(?:\/|$)/);
  assert.deepEqual(complaints, []);
  await visitor.close();
});
