import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import type { Database } from '../../src/foundation/database/open-database.ts';
import { createOneTimeLink } from '../../src/session/one-time-link.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService, type TestService } from '../../test/support/test-service.ts';
import { visitConsole } from '../support/console-visit.ts';
import { openChromium } from '../support/open-chromium.ts';

const browser = await openChromium();
const password = 'a password of twelve';

const run = promisify(execFile);

/** Runs a script in a shell without this process's environment. */
function shell(script: string): Promise<{ stdout: string }> {
  return run('sh', ['-eu', '-c', script], { env: { PATH: process.env.PATH }, timeout: 60_000 });
}

/** The code block in a section of the page. */
async function codeOf(page: Page, section: string): Promise<string> {
  return (await page.getByRole('region', { name: section }).locator('pre').textContent()) ?? '';
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

async function addSender(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Add a sender' }).click();
  await page.getByRole('button', { name: 'Add a sender' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address').fill('hello@shop.test');
  await dialog.getByLabel('Display names').fill('Olive’s Shop');
  await dialog.getByLabel('Display names').press('Enter');
  await dialog.getByRole('button', { name: 'Add and send link' }).click();
  await page.getByText('Waiting for confirmation').waitFor();
  await page.getByRole('button', { name: 'Mark as verified' }).click();
  await dialog.getByText('The audit log records it.').waitFor();
  await dialog.getByRole('button', { name: 'Mark as verified' }).click();
  await page.getByText('by an operator').waitFor();
}

async function makeTemplate(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Templates' }).click();
  await page.getByRole('button', { name: 'New template' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Welcome aboard');
  assert.equal(await dialog.getByLabel('Template ID').inputValue(), 'welcome-aboard');
  await dialog.getByRole('button', { name: 'Create template' }).click();
  await page.waitForURL(/templates\/welcome-aboard$/);
  // The creator isn't a verified sender; the verified one is preselected.
  assert.equal(
    await page.getByRole('combobox', { name: 'Sender' }).inputValue(),
    'hello@shop.test',
  );
  await page.getByRole('combobox', { name: 'Sender' }).selectOption('Template creator');
  await page.getByText('olive@shop.test isn’t a verified sender').waitFor();
  await page.getByRole('combobox', { name: 'Sender' }).selectOption('hello@shop.test');
  await page.getByText('isn’t a verified sender').waitFor({ state: 'detached' });
  await page.getByLabel('Subject').fill('Welcome, {{First Name}}');
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.getByText('Welcome, Ada').waitFor();
  await preview.frameLocator('iframe').getByText('Hello Ada,').waitFor();
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

test('a new user gets from the first start to a template, a sender, an integration and a sent message', async () => {
  const { url: databaseUrl, database } = await createTestDatabase();
  const service = await startTestService({ databaseUrl });
  const visit = await visitConsole(browser, service.url);
  const { page } = visit;
  await page.goto(await setUpLink(database, service));
  await page.getByRole('heading', { name: 'Welcome to Signalpost' }).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Try the demo' }).count(), 0);
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
  await page.getByText('No integration has the password grant yet.').waitFor();

  await page.getByRole('link', { name: 'OAuth apps' }).click();
  await page.getByRole('button', { name: 'Register an OAuth app' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Shop');
  await dialog.getByLabel('Client ID').fill('shop');
  await dialog.getByLabel('Password of a service user').check();
  await visit.look('integration-dialog');
  await dialog.getByRole('button', { name: 'Register' }).click();
  const shown = page.getByRole('dialog', { name: 'Client secret' });
  await shown.getByText('This is shown only once').waitFor();
  const secret = (await shown.locator('code').nth(1).textContent()) ?? '';
  assert.match(secret, /^[\w-]{43}$/);
  await visit.look('secret-once');
  await shown.getByRole('button', { name: 'I’ve saved it' }).click();
  await shown.waitFor({ state: 'detached' });
  assert.equal((await page.content()).includes(secret), false);

  await page.getByRole('link', { name: 'Templates' }).click();
  await page.getByRole('link', { name: 'Welcome aboard' }).click();
  await page.getByRole('tab', { name: 'Use it' }).click();
  await page.getByText("SIGNALPOST_CLIENT_ID='shop'").waitFor();
  // The commands on the page work in a shell once the two secrets are filled in.
  const environment = await codeOf(page, '1. Set up your shell');
  assert.match(environment, /SIGNALPOST_USER='olive@shop\.test'/);
  assert.match(environment, /SIGNALPOST_CLIENT_ID='shop'/);
  const filled = environment
    .replace("SIGNALPOST_PASSWORD='…'", `SIGNALPOST_PASSWORD='${password}'`)
    .replace("SIGNALPOST_SECRET='…'", `SIGNALPOST_SECRET='${secret}'`);
  await visit.look('use-it');
  const curl = await codeOf(page, '2. Send');
  assert.match((await shell(`${filled}\n${curl}`)).stdout, /"Successfully Accepted"/);
  await page.getByRole('tab', { name: 'TypeScript' }).click();
  const typescript = await codeOf(page, '2. Send');
  const node = `${filled}\n'${process.execPath}' --input-type=module-typescript <<'END'\n${typescript}\nEND`;
  assert.match((await shell(node)).stdout, /200.*Successfully Accepted/s);
  await page.getByRole('tab', { name: 'Python' }).click();
  const python = await codeOf(page, '2. Send');
  await shell(`python3 -c 'import ast, sys; ast.parse(sys.stdin.read())' <<'END'\n${python}\nEND`);

  await page.getByRole('link', { name: 'Messages', exact: true }).click();
  await page.getByRole('link', { name: 'ada@customer.example' }).first().click();
  await page.getByText('The receiving server accepted it.').waitFor();
  await page.frameLocator('iframe').getByText('Hello Ada,').waitFor();
  await visit.look('message');
  await page.getByRole('link', { name: 'Inbox' }).click();
  await page.getByRole('link', { name: 'Welcome, Ada' }).first().click();
  await page.frameLocator('iframe').getByText('Hello Ada,').waitFor();
  await visit.look('inbox-mail');
  await visit.end();
});

test('an owner password that is too short is rejected at its field, and nothing is created', async () => {
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
  await visit.end();
});
