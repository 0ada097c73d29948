import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { password, SessionWorld } from '../../test/support/session-world.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { freePort } from '../support/free-port.ts';
import { lookAt, newVisitor, openChromium, openPage } from '../support/open-chromium.ts';

const port = String(await freePort());
const site = `http://localhost:${port}`;
const { url, database } = await createTestDatabase();
await startTestService({ databaseUrl: url, environment: { PORT: port, PUBLIC_URL: site } });
const world = new SessionWorld(database);
await world.addAccount();
const browser = await openChromium();

/** A window with an authenticator that checks its user, as a laptop or phone has. */
interface Window {
  readonly visitor: BrowserContext;
  readonly page: Page;
  readonly complaints: readonly string[];
  /** Takes the authenticator away, as if the device were lost. */
  loseDevice(): Promise<void>;
}

async function openWindow(options: { phone?: boolean; dark?: boolean } = {}): Promise<Window> {
  const visitor = await newVisitor(browser, options);
  const { page, complaints } = await openPage(visitor);
  const cdp: CDPSession = await visitor.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    visitor,
    page,
    complaints,
    loseDevice: () =>
      cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId }).then(() => undefined),
  };
}

async function look(page: Page, name: string): Promise<void> {
  await lookAt(page, name);
  assert.match(await page.locator('body').innerText(), /^\s*Signalpost/, `${name} has loose text`);
}

async function signInWithPassword(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

test('a passkey is created, signs in alone and after the password, and a recovery code replaces it', async () => {
  const { email } = await world.addPerson();
  const { page, complaints, loseDevice, visitor } = await openWindow({ phone: true });
  await page.goto(`${site}/me`);
  await signInWithPassword(page, email);
  await look(page, 'passkeys-none');
  await page.getByRole('link', { name: 'Add a passkey' }).click();
  await look(page, 'passkey-new');
  await page.getByLabel('Name').fill('Work laptop');
  await page.getByRole('button', { name: 'Create passkey' }).click();
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
  const [recoveryCode = ''] = await page.locator('ul.codes code').allTextContents();
  await page.getByRole('link', { name: 'I’ve saved them' }).click();
  await page.getByText('never used').waitFor();
  await look(page, 'passkeys-one');

  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.goto(`${site}/sign-in?next=/me`);
  // The browser may offer the passkey by itself, as with saved passwords.
  const button = page.getByRole('button', { name: 'Sign in with a passkey' });
  if (page.url().includes('/sign-in'))
    await button.click({ timeout: 5_000 }).catch(() => undefined);
  await page
    .getByRole('listitem')
    .filter({ hasText: 'Work laptop' })
    .getByText('last used')
    .waitFor();

  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await loseDevice();
  await page.goto(`${site}/sign-in?next=/me`);
  await look(page, 'sign-in-with-passkey');
  await page.getByRole('button', { name: 'Show' }).click();
  assert.equal(await page.getByLabel('Password').getAttribute('type'), 'text');
  await page.getByRole('button', { name: 'Hide' }).click();
  assert.equal(await page.getByLabel('Password').getAttribute('type'), 'password');
  await signInWithPassword(page, email);
  await page.getByRole('heading', { name: 'Verify it’s you' }).waitFor();
  await look(page, 'passkey-second-factor');
  await page.getByRole('link', { name: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill(recoveryCode);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('link', { name: 'Manage passkey Work laptop' }).click();
  await look(page, 'passkey-manage');
  await page.getByRole('button', { name: 'Remove passkey' }).click();
  await page.getByText('Passkey removed.').waitFor();
  await page.getByText('You sign in with your password only.').waitFor();
  assert.deepEqual(complaints, []);
  await visitor.close();
});

test('after the password, the passkey is the second factor; it also confirms a sensitive change', async () => {
  const { id, email } = await world.addPerson();
  const { page, complaints, visitor } = await openWindow({ dark: true });
  await page.goto(`${site}/me/passkeys/new`);
  await signInWithPassword(page, email);
  await page.getByRole('button', { name: 'Create passkey' }).click();
  await page.getByRole('link', { name: 'I’ve saved them' }).click();
  // Without the script, which would use the passkey at once on the page after signing out.
  await page.route('**/session.js*', (route) => route.abort());
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goto(`${site}/sign-in?next=/me`);
  await page.unroute('**/session.js*');
  await signInWithPassword(page, email);
  await page.getByRole('button', { name: 'Use passkey' }).click();
  await page.getByRole('heading', { name: 'Sign-in and security' }).waitFor();
  await database.pool.query(
    "update browser_session set authenticated_at = now() - interval '11 minutes' where person_id = $1",
    [id],
  );
  await page.getByRole('link', { name: 'Manage second factor' }).click();
  await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
  await look(page, 'confirm');
  await page.getByRole('button', { name: 'Use passkey' }).click();
  await page.getByRole('heading', { name: 'Second factor' }).waitFor();
  await look(page, 'second-factor-with-passkey');
  assert.deepEqual(
    complaints.filter((text) => !/ERR_FAILED/.test(text)),
    [],
  );
  await visitor.close();
});

test('at another address than PUBLIC_URL, the page leads to where passkeys work', async () => {
  const { page, visitor } = await openWindow();
  await page.goto(`http://127.0.0.1:${port}/sign-in`);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByText(`Passkeys work only at ${site}.`).waitFor();
  const link = page.getByRole('link', { name: 'Continue there' });
  assert.equal(await link.getAttribute('href'), `${site}/sign-in`);
  await look(page, 'passkey-elsewhere');
  await visitor.close();
});
