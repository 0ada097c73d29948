import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, beforeEach, test } from 'node:test';
import { createTransport } from 'nodemailer';
import type { BrowserContext, Page } from 'playwright-core';
import { createOneTimeLink } from '../../src/accounts/sign-in/one-time-link.ts';
import { clearInbox, readInbox } from '../../test/support/inbox-client.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../support/free-port.ts';
import { lookAt, newVisitor, openChromium } from '../support/open-chromium.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const service = await startTestService({ databaseUrl });
const inbox = `${service.url}/inbox`;
const transport = createTransport({ host: '127.0.0.1', port: service.app.inboxPort(), pool: true });
after(() => transport.close());

/** A third-party server that a message would load from and link to. */
const requests: string[] = [];
const site = createServer((request, response) => {
  requests.push(request.url ?? '');
  response.setHeader('content-type', 'text/html');
  response.end('<title>Elsewhere</title><p>Elsewhere</p>');
});
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
after(() => site.close());
const siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

const browser = await openChromium();

const receipt = `<!doctype html><html lang="en"><head><title>Receipt</title>
<style>body{font-family:sans-serif;background:#f2f4f7;margin:0;padding:32px}.card{max-width:420px;margin:auto;padding:32px;background:#fff;border-radius:16px}@font-face{font-family:x;src:url(${siteUrl}/font)}</style>
<link rel="stylesheet" href="${siteUrl}/style.css"><script>document.title='run';fetch('${siteUrl}/script')</script></head>
<body><div class="card"><h1>Hi Ada, thank you</h1><p>Your order <b>A-1001</b> is confirmed.</p>
<p><a href="${siteUrl}/order">View your order</a></p><img src="${siteUrl}/pixel.png" alt="" onerror="fetch('${siteUrl}/error')">
<form action="${siteUrl}/form"><button>Send</button></form><meta http-equiv="refresh" content="0;url=${siteUrl}/refresh"></div></body></html>`;

async function send(subject: string, to = 'ada@customer.example'): Promise<string> {
  await transport.sendMail({
    from: 'Demo Shop <orders@shop.test>',
    to,
    subject,
    text: `Hi Ada, thank you\n\nYour order A-1001 is confirmed: ${siteUrl}/order`,
    html: receipt,
  });
  const [message] = await readInbox(service.url, '?limit=1');
  return message?.id ?? '';
}

/** Opens a page by a one-time link and collects refused loads and scripts, except those of the message in its frame. */
async function newPage(visitor: BrowserContext): Promise<{ page: Page; complaints: string[] }> {
  const page = await visitor.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    const ofFrame = message.location().url.endsWith('/html') || message.text().includes('/html');
    if (message.type() === 'error' && !ofFrame) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(await createOneTimeLink(database, 'inbox', service.url));
  assert.equal(page.url(), inbox);
  return { page, complaints };
}

beforeEach(() => clearInbox(service.url));

for (const [device, phone, script] of [
  ['desk', false, true],
  ['phone', true, true],
  ['without-script', false, false],
] as const) {
  test(`list, message, tabs and search are accessible: ${device}`, async () => {
    const { page, complaints } = await newPage(await newVisitor(browser, { phone, script }));
    const look = (name: string) =>
      lookAt(page, `inbox-${name}-${device}`, { dark: script, script });
    await page.goto(inbox);
    await look('empty');
    await send('Choose a new password', 'linus@kernel.example');
    await send('Your order A-1001');
    await page.goto(inbox);
    await look('list');
    await page.getByText('Your order A-1001', { exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Your order A-1001' }).waitFor();
    await page.frameLocator('iframe').getByText('Hi Ada, thank you').waitFor();
    await look('message');
    for (const tab of ['Text', 'Links', 'Headers', 'Source', 'HTML']) {
      const tabs = page.getByRole('navigation', { name: 'Message parts' });
      await tabs.getByRole('link', { name: tab }).click();
      await page.getByRole('region', { name: tab }).waitFor();
      const copies = page.getByRole('button', { name: 'Copy link: View your order' });
      assert.equal(await copies.count(), tab === 'Links' && script ? 1 : 0, tab);
      await look(tab.toLowerCase());
    }
    await page.goto(inbox);
    await page.getByRole('searchbox').fill('kernel');
    await page.getByRole('searchbox').press('Enter');
    await page.getByRole('heading', { name: '1 message matching “kernel”' }).waitFor();
    await look('search');
    await page.goto(`${inbox}/messages/unknown`);
    await page.getByRole('link', { name: 'Go to inbox' }).waitFor();
    await look('problem');
    const loud = complaints.filter((complaint) => !/status of 404/.test(complaint));
    assert.deepEqual(loud, []);
    await page.context().close();
  });
}

test('an open list shows new mail automatically, announces it, and keeps the focus', async () => {
  const first = await send('The first');
  const { page, complaints } = await newPage(await newVisitor(browser));
  await page.goto(inbox);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.locator(`a[href$="${first}"]`).focus();
  await send('The second');
  await page.getByRole('link', { name: /The second/ }).waitFor();
  assert.equal(await page.getByRole('status').textContent(), 'New message: The second');
  assert.match(await page.title(), /^Inbox \(2\)/);
  const focused = await page.evaluate('document.activeElement.getAttribute("href")');
  assert.equal(focused, `/inbox/messages/${first}`);
  await clearInbox(service.url);
  await page.getByText('No mail yet').waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a page that stays open during a restart becomes live again', async () => {
  const { page } = await newPage(await newVisitor(browser));
  const environment = { PORT: String(await freePort()) };
  const other = await startTestService({ databaseUrl, environment });
  await page.goto(`${other.url}/inbox`);
  await page.getByText('Live', { exact: true }).waitFor();
  await other.stop();
  await page.getByText('Reconnecting', { exact: true }).waitFor();
  await send('While it was away');
  await startTestService({ databaseUrl, environment });
  await page.getByRole('link', { name: /While it was away/ }).waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await page.context().close();
});

test('a message runs no scripts and loads nothing, and its link opens in a tab without a reference to the inbox', async () => {
  const id = await send('Hostile');
  requests.length = 0;
  for (const path of [`/messages/${id}`, `/messages/${id}/html`]) {
    const visitor = await newVisitor(browser);
    const { page } = await newPage(visitor);
    await page.goto(inbox + path);
    const mail = path.endsWith('/html') ? page : page.frameLocator('iframe');
    await mail.getByText('Hi Ada, thank you').waitFor();
    await page.waitForLoadState('networkidle');
    assert.deepEqual(requests, []);
    await mail.getByRole('button', { name: 'Send' }).click();
    const opened = visitor.waitForEvent('page');
    await mail.getByRole('link', { name: 'View your order' }).click();
    const tab = await opened;
    await tab.waitForLoadState();
    assert.equal(await tab.title(), 'Elsewhere');
    assert.equal(await tab.evaluate('opener === null && document.referrer === ""'), true);
    assert.ok(page.url().endsWith(path));
    assert.deepEqual(
      requests.filter((path) => path !== '/favicon.ico'),
      ['/order'],
    );
    requests.length = 0;
    await visitor.close();
  }
});

test('the button empties the inbox, with and without scripts', async () => {
  for (const script of [true, false]) {
    await send('To be deleted');
    const { page } = await newPage(await newVisitor(browser, { script }));
    await page.goto(inbox);
    await page.getByText('Empty', { exact: true }).click();
    await lookAt(page, `inbox-empty-menu-${script ? 'with' : 'without'}-script`, { script });
    await page.getByRole('button', { name: 'Delete all' }).click();
    await page.getByText('No mail yet').waitFor();
    assert.equal(page.url(), inbox);
    await page.context().close();
  }
});

test('a page of another origin can neither read nor empty the inbox', async () => {
  await send('Private');
  const { page } = await newPage(await newVisitor(browser));
  await page.goto(siteUrl);
  const read = `fetch('${inbox}/api/messages').then(() => 'read', () => 'refused')`;
  assert.equal(await page.evaluate(read), 'refused');
  const emptied = `fetch('${inbox}/empty', { method: 'POST', mode: 'no-cors' }).then(() => 'done', () => 'refused')`;
  assert.equal(await page.evaluate(emptied), 'refused');
  await page.evaluate(
    `(() => { const form = document.createElement('form'); form.method = 'post'; form.action = '${inbox}/empty'; document.body.append(form); form.submit(); })()`,
  );
  await page.getByText('Requests from other sites aren’t allowed.').waitFor();
  await page.goto(siteUrl);
  await page.evaluate(
    `(() => { const frame = document.createElement('iframe'); frame.src = '${inbox}'; document.body.append(frame); })()`,
  );
  await waitFor('the frame', () => page.frames().length === 2);
  assert.equal((await readInbox(service.url)).length, 1);
  await page.context().close();
});

test('a stranger’s browser shows how to get access, and a used link does not work in it', async () => {
  await send('Private');
  const link = await createOneTimeLink(database, 'inbox', service.url);
  const first = await newVisitor(browser);
  await (await first.newPage()).goto(link);
  for (const dark of [false, true]) {
    const stranger = await newVisitor(browser, { dark, phone: dark });
    const page = await stranger.newPage();
    for (const address of [inbox, link]) {
      await page.goto(address);
      await page.getByRole('heading', { name: 'The inbox is locked' }).waitFor();
      await page.getByText('bin/signalpost inbox-link').waitFor();
      assert.equal(await page.getByText('Private').count(), 0);
    }
    await lookAt(page, `inbox-locked-${dark ? 'dark' : 'light'}`);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Password').waitFor();
    await stranger.close();
  }
  await first.close();
});

test('every control can be reached by keyboard', async () => {
  const id = await send('By keyboard');
  const { page } = await newPage(await newVisitor(browser));
  await page.goto(inbox);
  const reached = new Set<string>();
  for (let presses = 0; presses < 12; presses += 1) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate(
      'document.activeElement.getAttribute("href") ?? document.activeElement.tagName',
    );
    reached.add(String(name));
  }
  for (const name of ['#main', '/inbox', 'INPUT', 'BUTTON', 'SUMMARY', `/inbox/messages/${id}`])
    assert.ok(reached.has(name), name);
  await page.context().close();
});
