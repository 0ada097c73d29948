import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { startBenchDatabase } from '../bench/bench-database.ts';
import { fillHistory } from '../bench/history/fill-history.ts';
import { createApp } from '../src/app.ts';
import { readConfig } from '../src/config/config.ts';
import type { AccountId, TemplateId } from '../src/foundation/ids.ts';
import { createLog } from '../src/foundation/log.ts';
import { MasterKey } from '../src/foundation/master-key.ts';
import { applyDemo } from '../src/manifest/apply-demo.ts';
import { loadDemoEnvironment } from '../src/manifest/demo-environment.ts';

/**
 * `npm run pictures`: takes the screenshots of the README and guide from a service with the demo and a month of messages.
 * Requires Chromium (`CHROMIUM`, or `/usr/bin/chromium`) and a built console.
 */
const folder = join(import.meta.dirname, '../docs/images');
const account = '1000' as AccountId;
/** Max size of a picture, so the README loads quickly. */
const maxBytes = 150_000;
const minuteMs = 60_000;
const monthMs = 30 * 24 * 60 * minuteMs;

const reset = { 'Reset Link': 'https://shop.test/reset/EXAMPLE' };
/** Messages sent before the receipt: template, address and values. */
const earlierMessages: readonly (readonly [string, string, Readonly<Record<string, unknown>>])[] = [
  ['receipt', 'katherine@orbit.example', { 'First Name': 'Katherine', 'Order Number': 'A-0997' }],
  ['hello', 'grace@navy.example', { 'First Name': 'Grace' }],
  ['password-reset', 'linus@kernel.example', { 'First Name': 'Linus', ...reset }],
  ['receipt', 'margaret@apollo.example', { 'First Name': 'Margaret', 'Order Number': 'A-0998' }],
  ['hello', 'alan@bletchley.example', { 'First Name': 'Alan' }],
  ['password-reset', 'barbara@objects.example', { 'First Name': 'Barbara', ...reset }],
  ['receipt', 'dorothy@fortran.example', { 'First Name': 'Dorothy', 'Order Number': 'A-1000' }],
];

const log = createLog('error');
const dataDir = await mkdtemp(join(tmpdir(), 'signalpost-pictures-'));
const { database, url: databaseUrl, stop } = await startBenchDatabase();
const key = new MasterKey(Buffer.alloc(32, 7));
await applyDemo({ database, key, dataDir });
const secrets = await loadDemoEnvironment(dataDir);
await fillHistory(
  database,
  {
    messages: 12_000,
    from: Date.now() - monthMs,
    until: Date.now() - 30 * minuteMs,
    accountIds: [account],
    templateIds: ['receipt', 'password-reset', 'hello'] as TemplateId[],
    clientId: 'demo',
  },
  log,
);
const inboxToken = randomBytes(24).toString('base64url');
const config = readConfig({
  DATABASE_URL: databaseUrl,
  DATA_DIR: dataDir,
  PORT: '0',
  DEMO: '0',
  INBOX_TOKEN: inboxToken,
});
const app = createApp({ config, database, key, log });
await app.start();
const url = await app.http.listen({ host: config.host, port: config.port });
try {
  const message = await sendMessages();
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  await mkdir(folder, { recursive: true });
  for (const scheme of ['light', 'dark'] as const) await takePictures(browser, scheme, message);
  await browser.close();
} finally {
  await app.stop();
  await stop();
  await rm(dataDir, { recursive: true });
}

/** Sends some demo messages, the receipt last. @returns its id once it is in the inbox */
async function sendMessages(): Promise<string> {
  const form = {
    grant_type: 'password',
    username: secrets.DEMO_OWNER_EMAIL ?? '',
    password: secrets.DEMO_OWNER_PASSWORD ?? '',
    client_id: 'demo',
    client_secret: secrets.DEMO_CLIENT_SECRET ?? '',
  };
  const tokenResponse = await fetch(`${url}/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const { access_token: token } = (await tokenResponse.json()) as { access_token: string };
  async function send(template: string, to: string, values: Readonly<Record<string, unknown>>) {
    const sent = await fetch(`${url}/ete/v1/email/${account}/${template}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        envelope: { toAddress: to },
        content: { personalizationDataMap: values },
        metadata: { transactional: true },
        actions: { trackOpens: false, trackClicks: false },
      }),
    });
    if (!sent.ok) throw new Error(`not accepted: ${await sent.text()}`);
    await fetch(`${url}/inbox/api/messages?to=${to}&wait=30`, {
      headers: { authorization: `Bearer ${inboxToken}` },
    });
    return ((await sent.json()) as { messageId: string }).messageId;
  }

  for (const [template, to, values] of earlierMessages) await send(template, to, values);
  return send('receipt', 'ada@customer.example', {
    'First Name': 'Ada',
    'Order Number': 'A-1001',
    Items: [
      { Name: 'Espresso beans, 1 kg', Price: '24.90' },
      { Name: 'Paper filters × 100', Price: '4.50' },
    ],
    Shipping: '3.90',
    Total: '33.30',
  });
}

async function takePictures(
  browser: Browser,
  scheme: 'light' | 'dark',
  message: string,
): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 760 },
    colorScheme: scheme,
  });
  const page = await context.newPage();
  await page.goto(`${url}/sign-in?next=/console`);
  await page.getByLabel('Email address').fill(secrets.DEMO_OWNER_EMAIL ?? '');
  await page.getByLabel('Password').fill(secrets.DEMO_OWNER_PASSWORD ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.plot').waitFor();
  await takePicture(page, 'overview', scheme);
  await page.goto(`${url}/console/${account}/templates/receipt`);
  await page.frameLocator('iframe').getByText('Espresso beans').waitFor();
  await takePicture(page, 'editor', scheme);
  await page.goto(`${url}/console/${account}/messages/${message}`);
  await page.getByText('The receiving server accepted it.').waitFor();
  await page.frameLocator('iframe').getByText('Espresso beans').waitFor();
  await takePicture(page, 'message', scheme);
  // The demo's owner is no operator.
  await page.setExtraHTTPHeaders({ authorization: `Bearer ${inboxToken}` });
  await page.goto(`${url}/inbox`);
  await page.getByText('ada@customer.example').first().click();
  await page.frameLocator('iframe').first().getByText('Espresso beans').waitFor();
  await takePicture(page, 'inbox', scheme);
  await context.close();
}

async function takePicture(page: Page, name: string, scheme: 'light' | 'dark'): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.evaluate('document.fonts.ready');
  const path = join(folder, `${name}${scheme === 'dark' ? '-dark' : ''}.png`);
  const { length } = await page.screenshot({ path });
  if (length > maxBytes) throw new Error(`${path} has ${length} bytes`);
  process.stdout.write(`${path}: ${length} bytes\n`);
}
