import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { saveMembership } from '../../src/account/membership-store.ts';
import { password } from '../../test/support/session-world.ts';
import { openShop } from '../../test/support/shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { visitConsole } from '../support/console-visit.ts';
import { openChromium } from '../support/open-chromium.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const service = await startTestService({ databaseUrl });
const shop = await openShop(database);
const browser = await openChromium();
const membership = { accountId: shop.id, personId: shop.owner.id };
await saveMembership(database.kysely, { ...membership, role: 'owner' });
await database.pool.query(
  `insert into contact_list (account_id, id, name, folder_name, description)
   values ($1, 'l-1', 'Customers', '', 'Everyone')`,
  [shop.id],
);

async function signedIn(options: { phone?: boolean; dark?: boolean } = {}) {
  const visit = await visitConsole(browser, service.url, options);
  await visit.signIn(shop.owner.email, password);
  return visit;
}

/** Sends a test message from the editor, which leads to its page. */
async function sendTest(page: Page, to: string): Promise<void> {
  await page.goto(`${service.url}/console/${shop.id}/templates/t-0001`);
  await page.getByRole('button', { name: 'Send a test' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('To').fill(to);
  await dialog.getByRole('button', { name: 'Send a test' }).click();
  await page.waitForURL(/messages\/[\w-]{36}$/);
  await page.getByText('It was delivered').waitFor();
}

const pages = [
  '',
  'messages',
  'reports',
  'templates',
  'templates/t-0001',
  'templates/t-0001/versions',
  'templates/t-0001/use',
  'senders',
  'domains',
  'integrations',
  'webhooks',
  'lists',
  'lists/l-1',
  'suppressions',
  'destinations',
  'inbox',
  'team',
  'audit',
  'settings',
] as const;

for (const [device, options] of [
  ['desk', {}],
  ['phone', { phone: true }],
  ['dark', { dark: true }],
] as const) {
  test(`every page is without barriers and no wider than the screen, on a ${device}`, async () => {
    const visit = await signedIn(options);
    for (const path of pages) {
      await visit.open(`${shop.id}/${path}`);
      await visit.page.waitForLoadState('networkidle');
      await visit.look(`${path.replaceAll('/', '-') || 'overview'}-${device}`);
    }
    await visit.end();
  });
}

test('a stranger is led to the sign-in and back to the very page; an unknown account says that there is nothing', async () => {
  const visit = await visitConsole(browser, service.url);
  const { page } = visit;
  await page.goto(`${service.url}/console/${shop.id}/messages?state=bounced`);
  await page.getByLabel('E-mail address').fill(shop.owner.email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('No message passes these filters').waitFor();
  assert.equal(await page.getByLabel('State').inputValue(), 'bounced');
  await visit.open('nobody/messages');
  await page.getByText('There is nothing here').waitFor();
  await visit.end();
});

test('messages: a filter stands in the address; a message that was sent shows its way and can be sent again', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await sendTest(page, 'ann@people.test');
  await page.frameLocator('iframe').locator('body').waitFor();
  await visit.look('message-delivered');
  const first = page.url();
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.waitForURL((url) => url.href !== first && /messages\/[\w-]{36}$/.test(url.href));
  await page.getByText('It was delivered').waitFor();
  await visit.open(`${shop.id}/messages`);
  await page.getByLabel('Recipient').fill('ann@');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.waitForURL(/recipient=ann/);
  await page.getByRole('link', { name: 'ann@people.test' }).nth(1).waitFor();
  await page.getByLabel('Recipient').fill('nobody@');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('No message passes these filters').waitFor();
  await visit.end();
});

test('destinations: mail is held back, waits visibly, and goes once it may', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/destinations`);
  await page.getByLabel('Hold mail to a domain back').fill('held.test');
  await page.getByRole('button', { name: 'Hold back' }).click();
  await page.getByText('Paused').waitFor();
  await page.goto(`${service.url}/console/${shop.id}/templates/t-0001`);
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('dialog').getByLabel('To').fill('bob@held.test');
  await page.getByRole('dialog').getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('Why hasn’t it arrived?').waitFor();
  await page.getByText(/^It waits: /).waitFor();
  await visit.look('message-held');
  const message = page.url();
  await visit.open(`${shop.id}/destinations`);
  await page.getByRole('button', { name: 'Let go' }).click();
  await page.getByText('Nothing waits').waitFor();
  await page.goto(message);
  await page.getByText('It was delivered').waitFor();
  await visit.end();
});

test('templates: a mistake is marked in place and cannot be published; a version is compared and brought back', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/templates/t-0001`);
  await page.getByLabel('Subject').fill('Changed {{Order Number');
  await page.getByText('There is no preview while the content has errors.').waitFor();
  await visit.look('editor-problem');
  await page.getByRole('button', { name: 'Publish' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByLabel('Subject').fill('Changed {{Order Number}}');
  await page.getByText('No problems found.').waitFor();
  await page.getByRole('button', { name: 'Publish' }).click();
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await page.waitForURL(/use$/);
  await page.getByRole('tab', { name: 'Versions' }).click();
  await page.getByText('Version 2', { exact: true }).first().waitFor();
  await page.locator('.cm-changedLine').first().waitFor();
  await visit.look('versions-diff');
  const first = page.getByRole('row', { name: /^Version 1 / });
  await first.getByRole('button', { name: 'Send with this version again' }).click();
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { rows } = await database.pool.query(
    `select published_version from template where id = 't-0001'`,
  );
  assert.equal(rows[0]?.published_version, 1);
  await visit.end();
});

test('senders: what is destroyed asks for its name; an address that is none is refused at its field', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/senders`);
  await page.getByRole('button', { name: 'Add a sender' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address').fill('gone@shop.test');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row', { name: /gone@shop\.test/ });
  await row.getByRole('button', { name: 'Remove' }).click();
  assert.equal(await dialog.getByRole('button', { name: 'Remove' }).isDisabled(), true);
  await dialog.getByLabel('Type gone@shop.test to go on').fill('gone@shop.test');
  await visit.look('confirm-by-name');
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Add a sender' }).first().click();
  await dialog.getByLabel('Address').fill('a@b');
  await dialog.getByLabel('Display names').fill('x'.repeat(300));
  await dialog.getByLabel('Display names').press('Enter');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').waitFor();
  await visit.end();
});

test('lists: contacts are added, imported with progress, and found; wrong rows are named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'contacts-'));
  after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'c.csv'), 'email,Name\nann@people.test,Ann\nnot an address,Bob\n');
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/lists/l-1`);
  await page.getByRole('button', { name: 'Import CSV' }).click();
  const dialog = page.getByRole('dialog');
  await page.locator('input[type=file]').setInputFiles(join(folder, 'c.csv'));
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await dialog.getByText('Done: 1 contacts written, 1 rows could not be used.').waitFor();
  await dialog.getByText(/line 3/).waitFor();
  await visit.look('import');
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('cell', { name: 'ann@people.test' }).waitFor();
  await page.getByLabel('Address begins with').fill('zoe');
  await page.getByText('No address begins like this').waitFor();
  await visit.end();
});

test('suppressions: an address is suppressed and a test to it is refused with the reason', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/suppressions`);
  await page.getByRole('button', { name: 'Suppress an address' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address').fill('no@people.test');
  await dialog.getByRole('button', { name: 'Suppress an address' }).click();
  await page.getByRole('cell', { name: 'no@people.test' }).waitFor();
  await visit.open(`${shop.id}/templates/t-0001`);
  await page.getByRole('button', { name: 'Send a test' }).click();
  await dialog.getByLabel('To').fill('no@people.test');
  await dialog.getByRole('button', { name: 'Send a test' }).click();
  await dialog.getByText(/suppressed/).waitFor();
  await visit.end();
});

test('team: the last owner stays; a person is added with a role', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/team`);
  await page.getByLabel(/^Role of/).selectOption('viewer');
  await page.getByText(/last owner/).waitFor();
  await page.getByRole('button', { name: 'Add a person' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('E-mail address').fill('vic@shop.test');
  await dialog.getByLabel('Name').fill('Vic Viewer');
  await dialog.getByLabel('Role').selectOption('viewer');
  await dialog.getByRole('button', { name: 'Add a person' }).click();
  await page.getByRole('cell', { name: 'vic@shop.test' }).waitFor();
  await visit.open(`${shop.id}/audit`);
  await page.getByText('user_created').waitFor();
  await visit.end();
});

test('integrations: a key for a machine is shown once and opens what it may', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/integrations`);
  await page.getByRole('tab', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Make an API key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What it is for').fill('Deploy');
  await dialog.getByLabel('senders:read').check();
  await dialog.getByRole('button', { name: 'Make the key' }).click();
  const shown = page.getByRole('dialog', { name: 'API key' });
  await shown.getByText('This is shown only now').waitFor();
  const key = (await shown.locator('code').textContent()) ?? '';
  const answer = (path: string) =>
    fetch(`${service.url}/manage/v1/accounts/${shop.id}/${path}`, {
      headers: { authorization: `Bearer ${key}` },
    });
  assert.equal((await answer('senders')).status, 200);
  assert.equal((await answer('messages')).status, 403);
  await visit.end();
});

test('webhooks: one is made, its secret shown once, its log read; an address that is none is refused', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/webhooks`);
  await page.getByRole('button', { name: 'Add a webhook' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address').fill('ftp://hooks.test/');
  await dialog.getByLabel('Bounced').check();
  await dialog.getByRole('button', { name: 'Add a webhook' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Address').fill('https://hooks.example/signalpost');
  await dialog.getByRole('button', { name: 'Add a webhook' }).click();
  const shown = page.getByRole('dialog', { name: 'Signing secret' });
  await shown.getByText('This is shown only now').waitFor();
  await shown.getByRole('button', { name: 'I have kept it' }).click();
  await page.getByRole('link', { name: 'https://hooks.example/signalpost' }).click();
  await page.getByText('Nothing was told yet').waitFor();
  await visit.look('webhook');
  await page.getByRole('button', { name: 'Hold back' }).click();
  await page.getByText('Held back').waitFor();
  await visit.end();
});

test('a role sees only what it may: a viewer finds no button that would be refused', async () => {
  await saveMembership(database.kysely, { ...membership, role: 'viewer' });
  try {
    const visit = await signedIn();
    const { page } = visit;
    await visit.open(`${shop.id}/senders`);
    await page.getByRole('cell', { name: 'orders@shop.test' }).waitFor();
    await waitFor('the role to be known', async () => {
      await page.reload();
      await page.getByRole('cell', { name: 'orders@shop.test' }).waitFor();
      return (await page.getByRole('link', { name: 'Integrations' }).count()) === 0;
    });
    assert.equal(await page.getByRole('button', { name: /Add|Change|Remove/ }).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Integrations' }).count(), 0);
    await visit.end();
  } finally {
    await saveMembership(database.kysely, { ...membership, role: 'owner' });
  }
});

test('the console is used with the keyboard alone: skip link, menu, page', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/senders`);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await waitFor('the content has the focus', async () =>
    page.evaluate<boolean>("document.activeElement?.id === 'main'"),
  );
  await page.keyboard.press('Tab');
  const name = await page.evaluate<string>('document.activeElement.textContent');
  assert.match(name, /Add a sender/);
  await visit.end();
});

test('the first view loads less than 200 kB of compressed script', async () => {
  const visit = await visitConsole(browser, service.url);
  let bytes = 0;
  visit.page.on('response', (response) => {
    if (!response.url().endsWith('.js')) return;
    bytes += Number(response.headers()['content-length'] ?? 1e9);
  });
  await visit.signIn(shop.owner.email, password);
  await visit.page.getByRole('heading', { name: 'Next steps' }).waitFor();
  assert.ok(bytes > 0 && bytes < 200_000, `${bytes} bytes`);
  await visit.end();
});
