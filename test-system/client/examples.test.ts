import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { Signalpost } from '../../packages/client/src/index.ts';
import { addKey } from '../../test/support/api-key.ts';
import { createClientApp } from '../../test/support/client-app.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { codeBlocks } from '../../test/support/markdown-pages.ts';
import { serviceTokens } from '../../test/support/service-tokens.ts';
import { publishShopTemplate } from '../../test/support/shop.ts';
import { openChromium } from '../support/open-chromium.ts';

/** The examples of docs/typescript.md for Playwright and Nodemailer, in an app that has installed the packed client. */
const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const modules = join(root, 'node_modules');
const names = ['nodemailer', '@types/nodemailer', 'playwright-core'];
const app = await createClientApp(
  Object.fromEntries(names.map((name) => [name, join(modules, name)])),
);
const shop = await FeedbackShop.open();
const key = await addKey(shop.database, shop.shop.id);
const { url } = shop.service;
const files: Readonly<Record<string, string>> = {
  playwright: 'sign-in.ts',
  nodemailer: 'mail.ts',
};

before(async () => {
  await publishShopTemplate(shop.database, shop.shop, {
    id: 'mail',
    sender: 'orders@shop.test',
    source: { subject: 'News', previewText: '', html: '{{{HTML}}}', text: '{{Text}}', fields: {} },
  });
  await shop.publish('sign-in', '<a href="{{Link}}">Sign in</a>');
  for (const { above, text } of codeBlocks(root, 'docs/typescript.md')) {
    const file = files[/^<!-- run in test-system: (\w+) -->$/.exec(above)?.[1] ?? ''];
    if (file !== undefined) await writeFile(join(app.folder, file), text);
  }
});

test('the examples compile under strict', async () => {
  const options = ['--module', 'nodenext', '--types', 'node', '--skipLibCheck', '--noUnusedLocals'];
  assert.equal(await app.compile(Object.values(files), ...options), '');
});

test('the example for Nodemailer sends', async () => {
  const env = { PATH: process.env.PATH, SIGNALPOST_URL: url, SIGNALPOST_API_KEY: key };
  const { stdout } = await run(process.execPath, ['mail.ts'], { cwd: app.folder, env });
  assert.match(stdout, /^[0-9a-f-]{36}\n$/);
  const [mail] = await readInbox(url, '?to=ada@customer.example&wait=30');
  assert.equal(mail?.subject, 'Your order A-1001');
  assert.match(mail?.html ?? '', /<p>Thank you, Ada\.<\/p>/);
});

/** An app that mails a link to sign in. @returns its URL */
async function startApp(): Promise<string> {
  const signalpost = new Signalpost({ url, key });
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://app.test');
    const to = searchParams.get('email') ?? '';
    response.setHeader('content-type', 'text/html');
    if (pathname === '/sign-in') {
      response.end(
        '<form action="/send"><label>Email <input name="email"></label><button>Send link</button></form>',
      );
    } else if (pathname === '/send') {
      const link = `http://${request.headers.host}/enter?email=${encodeURIComponent(to)}`;
      await signalpost.send('sign-in', { to, data: { Link: link } });
      response.end('Sent');
    } else response.end(`<p>Signed in as ${to}</p>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('the example for Playwright signs in by the mailed link', async () => {
  process.env.SIGNALPOST_URL = url;
  process.env.INBOX_TOKEN = serviceTokens.INBOX_TOKEN;
  after(() => {
    delete process.env.SIGNALPOST_URL;
    delete process.env.INBOX_TOKEN;
  });
  const example: { signIn(page: Page, app: string): Promise<void> } = await import(
    join(app.folder, 'sign-in.ts')
  );
  const browser = await openChromium();
  const page = await browser.newPage();
  await example.signIn(page, await startApp());
});
