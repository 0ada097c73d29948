import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { bodyWith } from '../../test/support/send-client.ts';
import { openSharedShop, type TestShop } from '../../test/support/test-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { lookAt, newVisitor, openChromium, openPage } from '../support/open-chromium.ts';

const source = join(import.meta.dirname, '../../packages/client/src/status.ts');
const browser = await openChromium();
const delivering = await openSharedShop();
const waiting = await openSharedShop({ worker: false });

async function bundle(): Promise<string> {
  const lib = { entry: source, formats: ['iife' as const], name: 'status' };
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: { write: false, lib, minify: true, target: 'es2022' },
  });
  const [one] = Array.isArray(built) ? built : [built];
  assert.ok(one !== undefined && 'output' in one);
  return one.output.map((part) => (part.type === 'chunk' ? part.code : '')).join('');
}

const script = `${await bundle()}
document.addEventListener('resend', (event) => { document.title = 'resend from ' + event.target.id; });`;

/** A page of the customer on another origin. Its policy refuses style elements, and everything else that it doesn't need. */
const site = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://site.test');
  const isScript = pathname === '/status.js';
  const policy = `default-src 'none'; script-src 'self'; img-src data:; connect-src ${delivering.service.url} ${waiting.service.url}`;
  response.setHeader('content-security-policy', policy);
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
  response.end(
    isScript
      ? script
      : `<!doctype html><html lang="${searchParams.get('lang')}"><title>Check your mail</title><link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width"><main><h1>Check your mail</h1>
<signalpost-status id="one" src="${searchParams.get('src')}"></signalpost-status></main><script src="/status.js"></script></html>`,
  );
});
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
after(() => site.close());

async function linkOf({ client }: TestShop, to: string, statusToken: unknown): Promise<string> {
  const body = bodyWith({ envelope: { toAddress: to }, actions: { statusToken } });
  const { status, text, body: answer } = await client.send({ body });
  assert.equal(status, 200, text);
  return String(answer.statusUrl);
}

interface Visit {
  readonly page: Page;
  readonly complaints: readonly string[];
  /** The statuses of what the element got. */
  readonly answers: readonly number[];
}

/** @param prepare runs in the page before everything else */
async function visit(src: string, lang = 'en', prepare = '', phone = false): Promise<Visit> {
  const visitor = await newVisitor(browser, { phone });
  if (prepare !== '') await visitor.addInitScript(prepare);
  const { page, complaints } = await openPage(visitor);
  const answers: number[] = [];
  page.on('response', (response) => {
    if (response.url().startsWith(src)) answers.push(response.status());
  });
  const { port } = site.address() as AddressInfo;
  await page.goto(`http://127.0.0.1:${port}/?lang=${lang}&src=${encodeURIComponent(src)}`);
  return { page, complaints, answers };
}

test('it says what becomes of a message, and when', async () => {
  const src = await linkOf(delivering, 'ada@people.test', true);
  const { page, complaints } = await visit(src);
  await page.locator('signalpost-status[state="test-inbox"]').waitFor();
  const status = page.getByRole('status');
  assert.match(await status.innerText(), /^Your email is in the test inbox\. ?\d{1,2}:\d\d:\d\d/);
  assert.equal(await page.getByRole('button').count(), 0);
  await lookAt(page, 'status-element', { dark: true });
  assert.deepEqual(complaints, []);
});

test('after the sender’s time, a button asks the page to send again', async () => {
  const src = await linkOf(waiting, 'ada@people.test', { resendAfterSeconds: 2 });
  const { page, complaints } = await visit(src, 'de', '', true);
  const status = page.getByRole('status');
  await page.locator('signalpost-status[state="waiting"]').waitFor();
  assert.match(await status.innerText(), /^Ihre E-Mail ist unterwegs\./);
  const button = page.getByRole('button', { name: 'Erneut senden' });
  await button.waitFor();
  await lookAt(page, 'status-element-resend');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.title(), 'resend from one');
  assert.equal(await button.count(), 0);
  // The page has sent again.
  const next = await linkOf(delivering, 'bounce@simulator.test', true);
  await page.evaluate(
    `document.querySelector('#one').setAttribute('src', ${JSON.stringify(next)})`,
  );
  await page.locator('signalpost-status[state="no-mailbox"]').waitFor();
  assert.match(await status.innerText(), /^Dieses Postfach gibt es nicht oder nicht mehr\./);
  assert.deepEqual(complaints, []);
});

for (const [name, prepare] of [
  ['without server-sent events', 'delete window.EventSource'],
  ['where a proxy holds events back', 'window.EventSource = class { close() {} }'],
] as const)
  test(`it polls ${name}`, async () => {
    const src = await linkOf(delivering, 'ada@people.test', true);
    const { page, complaints } = await visit(src, 'fr-CA', prepare);
    await page.locator('signalpost-status[state="test-inbox"]').waitFor();
    assert.match(
      await page.getByRole('status').innerText(),
      /^Votre e-mail est dans la boîte de test/,
    );
    assert.deepEqual(complaints, []);
  });

test('a link that works no more says nothing, and asks nothing more', async () => {
  const { page, answers } = await visit(`${waiting.service.url}/status/AAAA`);
  assert.equal(await waitFor('an answer', () => answers[0]), 404);
  assert.equal(await page.locator('signalpost-status').getAttribute('state'), null);
});
