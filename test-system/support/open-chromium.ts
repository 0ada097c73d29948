import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** Where screenshots go, for people to look at; not kept. */
const folder = process.env.SCREENSHOTS ?? join(import.meta.dirname, '../../.screenshots');

/** The system's Chromium, closed at the end of the file. */
export async function openChromium(): Promise<Browser> {
  const browser = await chromium.launch({
    timeout: 120_000,
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  after(() => browser.close());
  return browser;
}

/** Who looks, and on what. */
export interface VisitorOptions {
  readonly phone?: boolean;
  readonly dark?: boolean;
  readonly script?: boolean;
  /** Such as `Asia/Tokyo`; the machine's where it is not given. */
  readonly timeZone?: string;
}

/** A window of its own, as of somebody who has never been here. */
export function newVisitor(
  browser: Browser,
  options: VisitorOptions = {},
): Promise<BrowserContext> {
  return browser.newContext({
    viewport: options.phone ? { width: 360, height: 740 } : { width: 1000, height: 800 },
    colorScheme: options.dark ? 'dark' : 'light',
    javaScriptEnabled: options.script ?? true,
    ignoreHTTPSErrors: true,
    ...(options.timeZone !== undefined && { timezoneId: options.timeZone }),
  });
}

/** Keeps a picture of the whole page. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** What axe-core finds wrong with the page, each as one line. */
export async function findBarriers(page: Page): Promise<string[]> {
  const found: unknown = await page.evaluate(
    `(() => { ${axe.source}; return axe.run(document); })()`,
  );
  const { violations } = found as axe.AxeResults;
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
