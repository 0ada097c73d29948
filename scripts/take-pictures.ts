import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { startBenchDatabase } from '../bench/bench-database.ts';
import { generateApiKey, toGeneratedApiKey } from '../src/accounts/access/api-key.ts';
import { addApiKey } from '../src/accounts/access/api-key-store.ts';
import { findPersonByEmail, setOperator } from '../src/accounts/account/person-store.ts';
import { createApp } from '../src/app.ts';
import { MasterKey } from '../src/base/secrets/master-key.ts';
import { createLog } from '../src/base/values/log.ts';
import { readConfig } from '../src/operating/config/config.ts';
import {
  demoDataAccountId as account,
  fillDemo,
  waitForDemo,
} from '../src/operating/demo-data/fill-demo.ts';
import { applyDemo } from '../src/operating/manifest/apply-demo.ts';
import { loadDemoEnvironment } from '../src/operating/manifest/demo-environment.ts';

/**
 * `npm run pictures`: takes the screenshots of the README and guide from a service with the demo data, which `demo fill` adds.
 * Requires Chromium (`CHROMIUM`, or `/usr/bin/chromium`) and a built console.
 */
const folder = join(import.meta.dirname, '../docs/images');
/** Max size of a picture, so the README loads quickly. */
const maxBytes = 200_000;
const demoMessages = 12_000;

const order = (number: string) => ({
  'Order Number': number,
  Items: [
    { Name: 'Espresso beans, 1 kg', Price: '24.90' },
    { Name: 'Paper filters × 100', Price: '4.50' },
  ],
  Shipping: '3.90',
  Total: '33.30',
  'Order Link': `https://fernwood.example/orders/${number}`,
});

/** Messages in the inbox: template, address and values. The last one is shown. */
const sentMessages: readonly (readonly [string, string, Readonly<Record<string, unknown>>])[] = [
  ['receipt', 'katherine@orbit.example', { 'First Name': 'Katherine', ...order('A-22017') }],
  [
    'welcome',
    'grace@navy.example',
    { 'First Name': 'Grace', 'Start Link': 'https://fernwood.example/start' },
  ],
  [
    'password-reset',
    'linus@kernel.example',
    { 'First Name': 'Linus', 'Reset Link': 'https://fernwood.example/reset/EXAMPLE' },
  ],
  [
    'shipping',
    'margaret@apollo.example',
    {
      'First Name': 'Margaret',
      'Order Number': 'A-22011',
      Carrier: 'UPS',
      'Tracking Number': '1Z000021998',
      'Tracking Link': 'https://fernwood.example/track/21998',
    },
  ],
  [
    'confirm-address',
    'alan@bletchley.example',
    { 'First Name': 'Alan', 'Confirm Link': 'https://fernwood.example/confirm/EXAMPLE' },
  ],
  [
    'invoice',
    'barbara@objects.example',
    {
      'First Name': 'Barbara',
      'Invoice Number': '2026-00431',
      Amount: '240.00',
      'Due Date': '2026-12-31',
    },
  ],
  [
    'security-notice',
    'dorothy@fortran.example',
    {
      'First Name': 'Dorothy',
      Event: 'New sign-in',
      When: 'Today, 9:30 AM',
      'Secure Link': 'https://fernwood.example/security',
    },
  ],
  ['receipt', 'ada@customer.example', { 'First Name': 'Ada', ...order('A-22018') }],
];

const log = createLog('error');
const dataDir = await mkdtemp(join(tmpdir(), 'signalpost-pictures-'));
const { database, url: databaseUrl, stop } = await startBenchDatabase();
const key = new MasterKey(Buffer.alloc(32, 7));
await applyDemo({ database, key, dataDir });
const secrets = await loadDemoEnvironment(dataDir);
const owner = await findPersonByEmail(database.kysely, secrets.DEMO_OWNER_EMAIL ?? '');
if (owner === undefined) throw new Error('the demo has no owner');
await setOperator(database.kysely, owner.id, true);
await fillDemo({ database, key, log, now: Date.now() }, demoMessages);
const apiKey = await makeKey();
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
  if (!(await waitForDemo({ database }, demoMessages, 120_000)))
    throw new Error('the reports don’t show the messages');
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

async function makeKey(): Promise<string> {
  const { text } = generateApiKey(account);
  const { hash, hint } = toGeneratedApiKey(text);
  await addApiKey(database.kysely, {
    accountId: account,
    hash,
    hint,
    name: 'Shop server',
    scopes: ['messages:send'],
    networks: null,
    templates: null,
    createdBy: undefined,
    expiresAt: undefined,
  });
  return text;
}

/** Sends some messages, a receipt last. @returns its id once it is in the inbox */
async function sendMessages(): Promise<string> {
  let last = '';
  for (const [template, to, values] of sentMessages) {
    const sent = await fetch(`${url}/ete/v1/email/${account}/${template}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
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
    last = ((await sent.json()) as { messageId: string }).messageId;
  }
  return last;
}

async function takePictures(
  browser: Browser,
  scheme: 'light' | 'dark',
  message: string,
): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: scheme,
  });
  const page = await context.newPage();
  await page.goto(`${url}/sign-in?next=/console`);
  await page.getByLabel('Email address').fill(secrets.DEMO_OWNER_EMAIL ?? '');
  await page.getByLabel('Password').fill(secrets.DEMO_OWNER_PASSWORD ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(/console/);
  await page.goto(`${url}/console/${account}`);
  await page.locator('.plot').waitFor();
  await takePicture(page, 'overview', scheme);
  await page.goto(`${url}/console/${account}/templates/receipt`);
  await page.frameLocator('iframe').getByText('Espresso beans').waitFor();
  await takePicture(page, 'editor', scheme);
  await page.goto(`${url}/console/${account}/messages/${message}`);
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await page.frameLocator('iframe').getByText('Espresso beans').waitFor();
  await takePicture(page, 'message', scheme);
  await page.goto(`${url}/console/.server/inbox`);
  await page.getByText('ada@customer.example').first().click();
  await page.frameLocator('iframe').getByText('Espresso beans').waitFor();
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
