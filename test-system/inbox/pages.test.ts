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
const inbox = `${service.url}/console/.server/inbox`;
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
<body onload="fetch('${siteUrl}/load')"><div class="card"><h1>Hi Ada, thank you</h1><p>Your order <b>A-1001</b> is confirmed.</p>
<p><a href="${siteUrl}/order" ping="${siteUrl}/ping" target="_top">View your order</a></p><img src="${siteUrl}/pixel.png" alt="" onerror="fetch('${siteUrl}/error')">
<iframe src="${siteUrl}/frame"></iframe><form action="${siteUrl}/form"><button>Send</button></form><meta http-equiv="refresh" content="0;url=${siteUrl}/refresh"></div></body></html>`;

type Mail = Parameters<typeof transport.sendMail>[0];

async function sendMail(mail: Mail): Promise<string> {
  await transport.sendMail({ from: 'shop@shop.test', to: 'ada@customer.example', ...mail });
  const [message] = await readInbox(service.url, '?limit=1');
  return message?.id ?? '';
}

function send(subject: string, to = 'ada@customer.example'): Promise<string> {
  return sendMail({
    from: 'Demo Shop <orders@shop.test>',
    to,
    subject,
    text: `Hi Ada, thank you\n\nYour order A-1001 is confirmed: ${siteUrl}/order`,
    html: receipt,
    attachments: [{ filename: 'terms.pdf', content: '%PDF-1.7' }],
  });
}

/** Opens the page by a one-time link and collects refused loads and scripts, except those of the message in its frame. */
async function newPage(visitor: BrowserContext): Promise<{ page: Page; complaints: string[] }> {
  const page = await visitor.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    const { url } = message.location();
    const ofFrame = /\/frame$|\/frame-[\w-]+\.js$/.test(url) || url.startsWith(siteUrl);
    if (message.type() === 'error' && !ofFrame) complaints.push(`${url} ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(await createOneTimeLink(database, 'inbox', service.url));
  assert.equal(page.url(), inbox);
  await page.getByRole('heading', { level: 1, name: 'All captured mail' }).waitFor();
  return { page, complaints };
}

beforeEach(() => clearInbox(service.url));

for (const [device, phone] of [
  ['desk', false],
  ['phone', true],
] as const) {
  test(`list, message, tabs and search are accessible: ${device}`, async () => {
    const { page, complaints } = await newPage(await newVisitor(browser, { phone }));
    const look = (name: string) => lookAt(page, `inbox-${name}-${device}`, { dark: true });
    await page.getByText('No mail yet').waitFor();
    await look('empty');
    await send('Choose a new password', 'linus@kernel.example');
    await send('Your order A-1001');
    await page.getByText('2 messages').waitFor();
    await look('list');
    await page.getByRole('link', { name: /^Your order A-1001/ }).click();
    await page.getByRole('heading', { level: 2, name: 'Your order A-1001' }).waitFor();
    await page.frameLocator('iframe').getByText('Hi Ada, thank you').waitFor();
    await page.getByText('1 remote image not loaded').waitFor();
    const focused = await page.evaluate('document.activeElement.className');
    assert.equal(focused === 'inbox-mail', phone, focused as string);
    await look('message');
    for (const tab of ['Text', 'Links', 'Attachments', 'Headers', 'Source', 'HTML']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel', { name: tab }).waitFor();
      const copies = page.getByRole('button', { name: 'Copy link: View your order' });
      assert.equal(await copies.count(), tab === 'Links' ? 1 : 0, tab);
      await look(tab.toLowerCase());
    }
    // Beside the list, or in place of it.
    const list = page.getByLabel('Search subject');
    assert.equal(await list.isVisible(), !phone);
    if (phone) {
      await page.getByRole('link', { name: 'All mail' }).click();
      await page.getByRole('link', { name: /^Your order A-1001/ }).waitFor();
      assert.equal(await page.getByRole('heading', { level: 2 }).count(), 0);
    }
    await list.fill('kernel');
    await page.getByText('1 message matching “kernel”').waitFor();
    await page.locator('mark', { hasText: 'kernel' }).first().waitFor();
    await page.waitForURL(/search=kernel/);
    await look('search');
    await page.goto(`${inbox}?mail=01900000-0000-7000-8000-000000000000`);
    await page.getByRole('alert').getByText('Message not found').waitFor();
    await page.getByRole('alert').getByRole('link', { name: 'All mail' }).waitFor();
    await look('problem');
    const loud = complaints.filter((complaint) => !/status of 40[14]/.test(complaint));
    assert.deepEqual(loud, []);
    await page.context().close();
  });
}

test('an open list shows new mail automatically, announces it, and keeps the focus', async () => {
  const first = await send('The first');
  const { page, complaints } = await newPage(await newVisitor(browser));
  await page.locator(`#mail-${first}`).focus();
  await send('The second');
  await page.getByRole('link', { name: /The second/ }).waitFor();
  await page.getByRole('status').getByText('New message: The second', { exact: true }).waitFor();
  assert.match(await page.title(), /\(2\) · Signalpost$/);
  const focused = await page.evaluate('document.activeElement.id');
  assert.equal(focused, `mail-${first}`);
  await clearInbox(service.url);
  await page.getByText('No mail yet').waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a page that stays open during a restart becomes live again', async () => {
  const { page } = await newPage(await newVisitor(browser));
  const environment = { PORT: String(await freePort()) };
  const other = await startTestService({ databaseUrl, environment });
  await page.goto(`${other.url}/console/.server/inbox`);
  await page.getByText('No mail yet').waitFor();
  await other.stop();
  await page.getByRole('alert').getByText('Can’t reach the service').waitFor();
  await send('While it was away');
  await startTestService({ databaseUrl, environment });
  await page.getByRole('link', { name: /While it was away/ }).waitFor();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await page.context().close();
});

test('a message runs no scripts and loads nothing, and its link opens in a tab without a reference to the inbox', async () => {
  const id = await send('Hostile');
  requests.length = 0;
  const visitor = await newVisitor(browser);
  const { page } = await newPage(visitor);
  const shown = `${inbox}?mail=${id}`;
  await page.goto(shown);
  const mail = page.frameLocator('iframe');
  await mail.getByText('Hi Ada, thank you').waitFor();
  await page.getByText('1 remote image not loaded').waitFor();
  const frame = page.locator('iframe[title="Hostile"]');
  assert.equal(
    await frame.getAttribute('sandbox'),
    'allow-scripts allow-popups allow-popups-to-escape-sandbox',
  );
  const policy = (await (await fetch(`${service.url}/console/frame`)).headers).get(
    'content-security-policy',
  );
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox',
  ])
    assert.ok(policy?.split('; ').includes(rule), rule);
  assert.deepEqual(requests, []);
  for (const tag of ['script', 'base', 'meta', 'link', 'iframe', 'object'])
    assert.equal(await mail.locator(tag).count(), 0, tag);
  await mail.getByRole('button', { name: 'Send' }).click();
  const opened = visitor.waitForEvent('page');
  await mail.getByRole('link', { name: 'View your order' }).click();
  const tab = await opened;
  await tab.waitForLoadState();
  assert.equal(await tab.title(), 'Elsewhere');
  assert.equal(await tab.evaluate('opener === null && document.referrer === ""'), true);
  assert.equal(page.url(), shown);
  assert.deepEqual(
    requests.filter((path) => path !== '/favicon.ico'),
    ['/order'],
  );
  await visitor.close();
});

test('the links of a message are listed in order with their text, those that lead nowhere are not, and each opens safely', async () => {
  const id = await sendMail({
    subject: 'Links',
    html: `<a href="https://shop.test/a?x=1&amp;y=2">First <b>one</b></a>
      <a href="javascript:alert(1)">no</a> <a href="/inbox/empty">relative</a>
      <a href="https://shop.test/b"><img alt="A picture" src="data:,"></a>
      <a href="mailto:help@shop.test"> </a><map><area href="tel:+15550100" alt="Call"></map>${'<div>'.repeat(2_000)}
      <a href="https://shop.test/deep">Deep</a>`,
  });
  const { page } = await newPage(await newVisitor(browser));
  await page.goto(`${inbox}?mail=${id}`);
  await page.getByRole('tab', { name: 'Links 5' }).click();
  await page.locator('.mail-links a').first().waitFor();
  const links = await page.evaluate(
    "[...document.querySelectorAll('.mail-links a')].map((link) => ['href', 'target', 'rel'].map((name) => link.getAttribute(name)))",
  );
  assert.deepEqual(
    links,
    [
      'https://shop.test/a?x=1&y=2',
      'https://shop.test/b',
      'mailto:help@shop.test',
      'tel:+15550100',
      'https://shop.test/deep',
    ].map((href) => [href, '_blank', 'noopener noreferrer']),
  );
  const list = page.locator('.mail-links');
  for (const label of ['First one', 'A picture', 'Call', 'Deep'])
    await list.getByText(label, { exact: true }).waitFor();
  await page.context().close();
});

test('every tab has content, even if the message lacks that part; who got it without being named is shown', async () => {
  const { page } = await newPage(await newVisitor(browser));
  const open = async (mail: Mail) => {
    const id = await sendMail(mail);
    await page.goto(`${inbox}?mail=${id}`);
  };
  const choose = (name: string) => page.getByRole('tab', { name }).click();
  await open({
    subject: 'plain',
    text: 'See https://shop.test/a_(b). Bye.',
    envelope: { from: 'shop@shop.test', to: ['ada@customer.example', 'hidden@example.test'] },
  });
  await page.getByRole('link', { name: 'https://shop.test/a_(b)', exact: true }).waitFor();
  await page.getByRole('row', { name: 'Delivered to hidden@example.test' }).waitFor();
  await choose('HTML');
  await page.getByText('This message has no HTML part.').waitFor();
  await choose('Links');
  await page.locator('.mail-links a[href="https://shop.test/a_(b)"]').waitFor();
  await choose('Attachments');
  await page.getByText('This message has no attachments.').waitFor();
  await open({ subject: 'bare', html: '<p>Hello' });
  await choose('Text');
  await page.getByText('This message has no plain-text part.').waitFor();
  await choose('Links');
  await page.getByText('This message has no links.').waitFor();
  await choose('Headers');
  await page.getByRole('row', { name: 'Subject bare' }).waitFor();
  await page.getByRole('row', { name: 'RCPT TO ada@customer.example' }).waitFor();
  await page.context().close();
});

const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title></textarea></pre><b>',
  `!$${'{'}alert(1)} <!-- ]]> &lt;b&gt;`,
  'javascript:alert(1)',
];

test('message content never becomes markup of the page, and is shown literally', async () => {
  const { page, complaints } = await newPage(await newVisitor(browser));
  page.on('dialog', (dialog) => complaints.push(dialog.message()));
  for (const [index, payload] of hostile.entries()) {
    const id = await sendMail({
      from: { name: payload, address: 'shop@shop.test' },
      to: { name: payload, address: `reader${index}@example.test` },
      cc: { name: payload, address: 'cc@example.test' },
      replyTo: { name: payload, address: 'reply@example.test' },
      subject: payload,
      text: `${payload} https://shop.test/${payload}`,
      html: `<p>${payload}</p><a href="javascript:alert(1)">${payload}</a><a href='https://shop.test/"><script>alert(1)</script>'>x</a>`,
      headers: { 'X-Hostile': payload },
      attachments: [{ filename: `${payload}.txt`, content: 'x' }],
    });
    await page.goto(`${inbox}?mail=${id}&search=${encodeURIComponent(payload)}`);
    await page.getByRole('heading', { level: 2, name: payload, exact: true }).waitFor();
    for (const tab of ['HTML', 'Text', 'Links', 'Attachments', 'Headers', 'Source']) {
      await page.getByRole('tab', { name: tab }).click();
      const foreign = await page.evaluate(`[...document.querySelectorAll('#root *')].filter((one) =>
        one.matches('script, img, object, embed, base, marquee, b') ||
        [...one.attributes].some(({ name, value }) => /^on|^srcdoc$/.test(name) ||
          (['href', 'src', 'action'].includes(name) && !/^(?:\\/|#|https?:|mailto:|tel:)/.test(value)))
      ).map((one) => one.outerHTML)`);
      assert.deepEqual(foreign, [], `${tab}, ${payload}`);
    }
  }
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a page of another origin can neither read nor empty the inbox', async () => {
  await send('Private');
  const { page } = await newPage(await newVisitor(browser));
  await page.goto(siteUrl);
  for (const api of [
    `${service.url}/inbox/api/messages`,
    `${service.url}/manage/v1/inbox/messages`,
  ]) {
    const call = (options: string) =>
      page.evaluate(`fetch('${api}', ${options}).then(({ type }) => type, () => 'refused')`);
    assert.equal(await call("{ credentials: 'include' }"), 'refused');
    assert.equal(await call("{ method: 'DELETE', credentials: 'include' }"), 'refused');
  }
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
    for (const address of [`${service.url}/inbox`, inbox, link]) {
      await page.goto(address);
      await page.getByRole('heading', { name: 'The inbox is locked' }).waitFor();
      await page.getByText('bin/signalpost inbox-link').waitFor();
      assert.equal(await page.getByText('Private').count(), 0);
    }
    await lookAt(page, `inbox-locked-${dark ? 'dark' : 'light'}`);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Password').waitFor();
    assert.match(page.url(), /next=%2Fconsole%2F\.server%2Finbox$/);
    await stranger.close();
  }
  await first.close();
});

test('the keyboard reaches every control; J, K, / and Escape move through the inbox', async () => {
  const older = await send('The older');
  const newer = await send('The newer');
  const { page } = await newPage(await newVisitor(browser));
  await page.locator(`#mail-${older}`).waitFor();
  const reached = new Set<string>();
  for (let presses = 0; presses < 12; presses += 1) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate(
      'document.activeElement.id || document.activeElement.getAttribute("href") || document.activeElement.tagName',
    );
    reached.add(String(name).replace(/^mantine-.*/, 'INPUT'));
  }
  for (const name of ['#main', '/console', 'INPUT', 'BUTTON', `mail-${newer}`, `mail-${older}`])
    assert.ok(reached.has(name), `${name} of ${[...reached]}`);
  const shows = (id: string) => page.waitForURL(`${inbox}?mail=${id}`);
  // Two keys before the page has shown what the first one opened.
  await page.evaluate(`for (const key of ['j', 'j'])
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))`);
  await shows(older);
  await page.keyboard.press('Escape');
  await page.waitForURL(inbox);
  await page.keyboard.press('j');
  await shows(newer);
  await page.keyboard.press('j');
  await shows(older);
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await shows(newer);
  await page.keyboard.press('/');
  await page.keyboard.type('older jk');
  await page.waitForURL(/search=older\+jk/);
  await page.goBack();
  await page.waitForURL(inbox);
  const search = page.getByLabel('Search subject');
  await waitFor('the field to be empty', async () => (await search.inputValue()) === '');
  await page.goForward();
  await page.waitForURL(/search=older\+jk/);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.waitForURL(`${inbox}?search=older+jk`);
  // Going back and forth faster than a pause in typing doesn't undo either.
  for (let polls = 0; polls < 2; polls += 1)
    await page.waitForRequest(/inbox\/messages\?.*search=older/);
  assert.equal(await search.inputValue(), 'older jk');
  await page.waitForURL(`${inbox}?search=older+jk`);
  await page.context().close();
});
