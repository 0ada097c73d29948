import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { createOneTimeLink } from '../../src/accounts/sign-in/one-time-link.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService, type TestService } from '../../test/support/test-service.ts';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.ts';
import { openChromium } from '../support/open-chromium.ts';

const browser = await openChromium();
const password = 'a password of twelve';

const run = promisify(execFile);

/** Runs a script in a shell without this process's environment. */
function shell(script: string): Promise<{ stdout: string }> {
  return run('sh', ['-eu', '-c', script], { env: { PATH: process.env.PATH }, timeout: 60_000 });
}

async function fillOwner(page: Page): Promise<void> {
  await page.getByLabel('Your name').fill('Olive Owner');
  await page.getByLabel('Your email address').fill('olive@shop.test');
  await page.getByLabel('Password', { exact: false }).first().fill(password);
  await page.getByLabel('Account name').fill('Olive’s Shop');
}

async function makeOwner(page: Page): Promise<void> {
  await fillOwner(page);
  await page.getByRole('button', { name: 'Create owner and sign in' }).click();
  await page.waitForURL(/\/console\/1001$/);
}

/** Confirms an own address with the emailed link, which is in the inbox. */
async function confirmSender(page: Page, visit: ConsoleVisit): Promise<void> {
  const steps = page.getByRole('region', { name: 'Get started' });
  assert.equal(await steps.getByLabel('Address').inputValue(), 'olive@shop.test');
  assert.equal(await steps.getByLabel('Name shown to recipients').inputValue(), 'Olive’s Shop');
  await steps.getByRole('button', { name: 'Add and send link' }).click();
  await steps.getByText('Confirmation link sent to olive@shop.test.').waitFor();
  await visit.look('steps-sender-waiting');
  await steps.getByRole('link', { name: 'Open the inbox' }).click();
  await page.getByRole('link', { name: 'Confirm your sender address' }).click();
  const opened = visit.context.waitForEvent('page');
  await page.frameLocator('iframe').getByRole('link', { name: 'Confirm address' }).click();
  const confirmation = await opened;
  await confirmation.getByRole('button', { name: 'Confirm' }).click();
  await confirmation.getByText('can now send from olive@shop.test').waitFor();
  await confirmation.getByRole('link', { name: 'Open the console' }).waitFor();
  await confirmation.close();
  await page.getByRole('link', { name: 'Console' }).click();
}

/** Starts from a finished template, and publishes it with an own subject. */
async function makeTemplate(page: Page, visit: ConsoleVisit): Promise<void> {
  const steps = page.getByRole('region', { name: 'Get started' });
  await visit.look('steps-template');
  await steps.getByRole('button', { name: 'Welcome' }).click();
  const dialog = page.getByRole('dialog');
  assert.equal(await dialog.getByLabel('Template ID').inputValue(), 'welcome');
  await dialog.frameLocator('iframe').getByRole('heading', { name: 'Welcome, Ada' }).waitFor();
  await visit.look('new-template');
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Welcome aboard');
  assert.equal(await dialog.getByLabel('Template ID').inputValue(), 'welcome-aboard');
  await dialog.getByRole('button', { name: 'Create template' }).click();
  await page.waitForURL(/templates\/welcome-aboard$/);
  assert.equal(
    await page.getByRole('combobox', { name: 'Sender' }).inputValue(),
    'olive@shop.test',
  );
  await page
    .getByRole('textbox', { name: 'Subject', exact: true })
    .fill('Welcome aboard, {{First Name}}');
  await page.getByRole('tab', { name: 'Preview' }).click();
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.getByText('Welcome aboard, Ada').waitFor();
  await preview.frameLocator('iframe').getByText('Your Olive’s Shop account is ready').waitFor();
  await visit.look('editor');
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.waitForURL(/templates\/welcome-aboard\/use$/);
}

/** The link that the start prints. */
function setUpLink(database: Database, service: TestService): Promise<string> {
  return createOneTimeLink(database, 'set-up', service.url);
}

test('a visitor sees where to find the setup link and the demo password, and no form', async () => {
  const { url: databaseUrl, database } = await createTestDatabase();
  const service = await startTestService({ databaseUrl });
  await database.pool.query(`
    insert into person (id, email, name) values (gen_random_uuid(), 'owner@shop.test', 'Demo');
    update installation set demo_applied_at = now()`);
  const visit = await visitConsole(browser, service.url);
  await visit.page.goto(service.url);
  await visit.page.getByText('bin/signalpost set-up-link').waitFor();
  assert.equal(await visit.page.getByLabel('Your name').count(), 0);
  // Strangers don't learn the path of the data folder, which isn't always `data`.
  const demo = visit.page.getByRole('region', { name: 'Try the demo' });
  await demo.getByText('in demo.env in the data folder').waitFor();
  await visit.look('first-start-demo');
  await visit.end();
});

test('a setup link that is opened in the tab of the explanation shows the form', async () => {
  const { url: databaseUrl, database } = await createTestDatabase();
  const service = await startTestService({ databaseUrl });
  const visit = await visitConsole(browser, service.url);
  const { page } = visit;
  await page.goto(`${service.url}/console`);
  await page.getByText('Open the setup link').waitFor();
  assert.equal(await page.getByRole('region', { name: 'Try the demo' }).count(), 0);
  await page.goto(await setUpLink(database, service));
  await page.getByLabel('Your name').waitFor();
  await visit.end();
});

test('a replaced setup link does not create an owner, and the page says how to get a new one', async () => {
  const { url: databaseUrl, database } = await createTestDatabase();
  const service = await startTestService({ databaseUrl });
  const visit = await visitConsole(browser, service.url);
  const { page } = visit;
  await page.goto(await setUpLink(database, service));
  await setUpLink(database, service);
  await fillOwner(page);
  await page.getByRole('button', { name: 'Create owner and sign in' }).click();
  await page.getByText(/has expired, or a newer one replaced it/).waitFor();
  await visit.look('first-start-late');
  assert.equal((await sendRequest(`${service.url}/manage/v1/set-up`)).body.open, true);
  await visit.end();
});

test('a new user gets from the first start to an own message without leaving the console, but for one command', async () => {
  const { url: databaseUrl, database } = await createTestDatabase();
  const service = await startTestService({ databaseUrl });
  const visit = await visitConsole(browser, service.url);
  const { page } = visit;
  await page.goto(await setUpLink(database, service));
  await page.getByRole('heading', { name: 'Welcome to Signalpost' }).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Try the demo' }).count(), 0);
  await visit.look('first-start');
  await makeOwner(page);
  const steps = page.getByRole('region', { name: 'Get started' });
  await steps.getByText('0 of 4 done').waitFor();
  await visit.look('overview-empty');
  assert.equal(await page.getByText('Recent messages').count(), 0);

  // An integration that nobody can get a token with is no step done.
  await database.pool.query(
    `insert into integration (client_id, account_id, name, secret_hash, redirect_uri, grants)
     values ('idle', '1001', 'Idle', '', 'https://localhost/callback', '{refresh_token}')`,
  );
  await confirmSender(page, visit);
  await steps.getByText('1 of 4 done').waitFor();
  await makeTemplate(page, visit);
  await page.getByText('Messages from “welcome-aboard” appear here').waitFor();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByText('Waiting for a message from “welcome-aboard”.').waitFor();
  const keyCard = page.getByRole('region', { name: '1. API key' });
  const key = (await keyCard.locator('code').textContent()) ?? '';
  assert.match(key, /^sp_/);
  const call = page.getByRole('region', { name: '2. Send' });
  assert.equal(await call.getByLabel('Send to').inputValue(), 'olive@shop.test');
  await visit.look('use-it');
  for (const name of ['TypeScript', 'Python', 'PHP', 'Ruby', 'Go']) {
    await call.getByRole('tab', { name }).click();
    await call.getByText(`SIGNALPOST_API_KEY='${key}'`).waitFor();
  }
  await call.getByRole('tab', { name: 'curl' }).click();
  const command = (await call.locator('pre').first().textContent()) ?? '';
  assert.match((await shell(command)).stdout, /"Successfully Accepted"/);
  const arrival = page.getByRole('region', { name: '3. See it arrive' });
  await arrival.getByText('Your message to olive@shop.test is here.').waitFor();
  await arrival.getByText('Captured', { exact: true }).waitFor();
  await visit.look('use-it-arrived');

  await arrival.getByRole('link', { name: 'Open the message' }).click();
  await page.getByText('Captured in the test inbox').waitFor();
  await page.goBack();
  await arrival.getByText('Your message to olive@shop.test is here.').waitFor();
  await page.goForward();
  // The command has a value for every field, also for those that have a default.
  const mail = page.frameLocator('iframe');
  await mail.getByRole('heading', { name: /^Welcome, (?!there)/ }).waitFor();
  await visit.look('message');
  await page.getByRole('link', { name: 'Test inbox', exact: true }).click();
  await page
    .getByRole('link', { name: /^Welcome aboard, (?!there)/ })
    .first()
    .click();
  await mail.getByRole('heading', { name: /^Welcome, (?!there)/ }).waitFor();
  await visit.look('inbox-mail');
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { name: 'Activity' }).waitFor();
  assert.equal(await steps.count(), 0);
  // The key is gone with the page's memory.
  await page.reload();
  await page.getByRole('heading', { name: 'Activity' }).waitFor();
  assert.equal((await page.content()).includes(key), false);
  await visit.end();
});

test('an owner password that is too short or weak is rejected at its field, and nothing is created', async () => {
  const { url: databaseUrl, database } = await createTestDatabase();
  const service = await startTestService({ databaseUrl });
  const visit = await visitConsole(browser, service.url, { phone: true });
  const { page } = visit;
  await page.goto(await setUpLink(database, service));
  await page.getByLabel('Your name').fill('Olive Owner');
  await page.getByLabel('Your email address').fill('olive@shop.test');
  await page.locator('input[type=password]').fill('            ');
  await page.getByLabel('Account name').fill('Olive’s Shop');
  await page.getByLabel('Account ID').fill('no id');
  await visit.look('first-start-phone');
  await page.getByRole('button', { name: 'Create owner and sign in' }).click();
  assert.equal((await sendRequest(`${service.url}/manage/v1/set-up`)).body.open, true);
  const field = page.locator('input[type=password]');
  await field.fill('password1234');
  await page.getByLabel('Account ID').fill('1001');
  await page.getByText('Too easy to guess.').waitFor();
  await page.getByRole('button', { name: 'Create owner and sign in' }).click();
  await page.locator('input[type=password][data-invalid]').waitFor();
  assert.equal(await page.getByText(/too easy to guess/i).count(), 1, 'said once');
  await field.fill('quiet harbor lamp seven');
  await page.getByText(/^(Hard|Very hard) to guess\.$/).waitFor();
  assert.equal(await page.getByText(/too easy to guess/i).count(), 0);
  await visit.end();
});

test('a second visitor who tries to create the owner gets an explanation and a link to sign in', async () => {
  const { url: databaseUrl, database } = await createTestDatabase();
  const service = await startTestService({ databaseUrl });
  const visit = await visitConsole(browser, service.url);
  const second = await visit.context.newPage();
  const link = await setUpLink(database, service);
  for (const page of [visit.page, second]) {
    await page.goto(link);
    await page.getByRole('heading', { name: 'Welcome to Signalpost' }).waitFor();
  }
  await makeOwner(visit.page);
  await second.getByLabel('Your name').fill('Sam Second');
  await second.getByLabel('Your email address').fill('sam@shop.test');
  await second.locator('input[type=password]').fill(password);
  await second.getByLabel('Account name').fill('Sam’s Shop');
  await second.getByRole('button', { name: 'Create owner and sign in' }).click();
  await second.getByText('The installation is already set up').waitFor();
  const signIn = second.getByRole('link', { name: 'Sign in', exact: true });
  assert.equal(await signIn.getAttribute('href'), '/sign-in?next=/console');

  const stranger = await visitConsole(browser, service.url);
  await stranger.page.goto(link);
  await stranger.page.getByText('This setup link isn’t valid anymore').waitFor();
  await stranger.end();
  await visit.end();
});
