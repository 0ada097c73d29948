import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { ask } from '../../test/support/ask.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { visitConsole } from '../support/console-visit.ts';
import { openChromium } from '../support/open-chromium.ts';

const browser = await openChromium();
const password = 'a password of twelve';

async function makeOwner(page: Page): Promise<void> {
  await page.getByLabel('Your name').fill('Olive Owner');
  await page.getByLabel('Your e-mail address').fill('olive@shop.test');
  await page.getByLabel('Password', { exact: false }).first().fill(password);
  await page.getByLabel('Name of your account').fill('Olive’s Shop');
  await page.getByRole('button', { name: 'Make the owner and sign in' }).click();
  await page.waitForURL(/\/console\/1001$/);
}

async function addSender(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Add a sender' }).click();
  await page.getByRole('button', { name: 'Add a sender' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address').fill('olive@shop.test');
  await dialog.getByLabel('Display names').fill('Olive’s Shop');
  await dialog.getByLabel('Display names').press('Enter');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Mark as verified' }).click();
  await page.getByRole('button', { name: 'Mark as verified' }).waitFor({ state: 'detached' });
}

async function makeTemplate(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Templates' }).click();
  await page.getByRole('button', { name: 'New template' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Welcome aboard');
  assert.equal(await dialog.getByLabel('Template id').inputValue(), 'welcome-aboard');
  await dialog.getByRole('button', { name: 'Make the template' }).click();
  await page.waitForURL(/templates\/welcome-aboard$/);
  await page.getByLabel('Subject').fill('Welcome, {{First Name}}');
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.getByText('Welcome, Ada').waitFor();
  await preview.frameLocator('iframe').getByText('Hello Ada,').waitFor();
}

test('a first-time user gets from the start to an own template, sender, integration and a sent message', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  const service = await startTestService({ databaseUrl });
  const visit = await visitConsole(browser, service.url);
  const { page } = visit;
  await page.goto(service.url);
  await page.getByRole('heading', { name: 'Welcome to Signalpost' }).waitFor();
  await visit.look('first-start');
  await makeOwner(page);
  await page.getByRole('heading', { name: 'Next steps' }).waitFor();
  await page.getByText('No messages yet').waitFor();
  await visit.look('overview-empty');

  await addSender(page);
  await visit.look('senders');
  await makeTemplate(page);
  await visit.look('editor');
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  await page.waitForURL(/templates\/welcome-aboard\/use$/);
  await page.getByText('First Name').first().waitFor();
  await visit.look('use-it');

  await page.getByRole('link', { name: 'Integrations' }).click();
  await page.getByRole('button', { name: 'Register an integration' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Shop');
  await dialog.getByLabel('Client id').fill('shop');
  await dialog.getByLabel('Password of a service user').check();
  await visit.look('integration-dialog');
  await dialog.getByRole('button', { name: 'Register' }).click();
  const shown = page.getByRole('dialog', { name: 'Client secret' });
  await shown.getByText('This is shown only now').waitFor();
  const secret = (await shown.locator('code').nth(1).textContent()) ?? '';
  assert.match(secret, /^[\w-]{43}$/);
  await visit.look('secret-once');
  await shown.getByRole('button', { name: 'I have kept it' }).click();
  await shown.waitFor({ state: 'detached' });
  assert.equal((await page.content()).includes(secret), false);

  const token = await ask(`${service.url}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      username: 'olive@shop.test',
      password,
      client_id: 'shop',
      client_secret: secret,
    }),
  });
  assert.equal(token.status, 200, token.text);
  const sent = await ask(`${service.url}/ete/v1/email/1001/welcome-aboard`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${String(token.body.access_token)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      envelope: { toAddress: 'ada@customer.example' },
      content: { personalizationDataMap: { 'First Name': 'Ada' } },
      actions: { trackOpens: false, trackClicks: false },
    }),
  });
  assert.equal(sent.status, 200, sent.text);

  await page.getByRole('link', { name: 'Messages', exact: true }).click();
  await page.getByRole('link', { name: 'ada@customer.example' }).click();
  await page.getByText('It was delivered').waitFor();
  await page.frameLocator('iframe').getByText('Hello Ada,').waitFor();
  await visit.look('message');
  await page.getByRole('link', { name: 'Inbox' }).click();
  await page.getByRole('link', { name: 'Welcome, Ada' }).click();
  await page.frameLocator('iframe').getByText('Hello Ada,').waitFor();
  await visit.look('inbox-mail');
  await visit.end();
});

test('the owner’s password that is too short is refused at its field, and nothing is made', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  const service = await startTestService({ databaseUrl });
  const visit = await visitConsole(browser, service.url, { phone: true });
  const { page } = visit;
  await page.goto(service.url);
  await page.getByLabel('Your name').fill('Olive Owner');
  await page.getByLabel('Your e-mail address').fill('olive@shop.test');
  await page.locator('input[type=password]').fill('            ');
  await page.getByLabel('Name of your account').fill('Olive’s Shop');
  await page.getByLabel('Account id').fill('no id');
  await visit.look('first-start-phone');
  await page.getByRole('button', { name: 'Make the owner and sign in' }).click();
  assert.equal((await ask(`${service.url}/manage/v1/set-up`)).body.open, true);
  await visit.end();
});
