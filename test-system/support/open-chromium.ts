import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after } from 'node:test';
import type { AxeResults } from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAllFiles } from '../../scripts/test-runner/current-file.ts';

/** Folder for screenshots, which are only for viewing; undefined: none is taken, because drawing takes longer than most tests. */
const folder = process.env.SCREENSHOTS;
export const takesScreenshots = folder !== undefined;

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

let opened: Promise<Browser> | undefined;

/** The system's Chromium, one for all files of the process; what a file opened in it is closed at the end of the file. */
export async function openChromium(): Promise<Browser> {
  opened ??= launchChromium();
  const browser = await opened;
  after(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  });
  return browser;
}

async function launchChromium(): Promise<Browser> {
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
      // The windows of one visitor share what the engine compiled.
      '--process-per-site',
    ],
  });
  afterAllFiles(() => browser.close());
  return browser;
}

/** The visitor's device and settings. */
export interface VisitorOptions {
  readonly phone?: boolean;
  /** Wide enough for two columns. */
  readonly wide?: boolean;
  /** Wider than text should run. */
  readonly huge?: boolean;
  readonly dark?: boolean;
  readonly script?: boolean;
  /** Such as `Asia/Tokyo`; default: the machine's. */
  readonly timeZone?: string;
  /** Such as `de-DE`; default: American English. */
  readonly locale?: string;
}

/** The size of the device's window. */
export function viewportOf(options: VisitorOptions): { width: number; height: number } {
  if (options.phone) return { width: 360, height: 740 };
  return { width: options.huge ? 2560 : options.wide ? 1280 : 1000, height: 800 };
}

/** A new window without cookies or cache. */
export function newVisitor(
  browser: Browser,
  options: VisitorOptions = {},
): Promise<BrowserContext> {
  return browser.newContext({
    viewport: viewportOf(options),
    colorScheme: options.dark ? 'dark' : 'light',
    javaScriptEnabled: options.script ?? true,
    ignoreHTTPSErrors: true,
    ...(options.timeZone !== undefined && { timezoneId: options.timeZone }),
    ...(options.locale !== undefined && { locale: options.locale }),
  });
}

/** Takes a screenshot of the whole page if there is a folder for them. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** The rules of axe-core whose results depend on colors: all that the dark scheme changes. */
export const colorRules = ['color-contrast', 'link-in-text-block'];

/** The accessibility problems that axe-core finds, one per line. @param rules default: all */
export async function findBarriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  // A frame without axe-core, such as that of a message, would be asked and waited for.
  const options = { resultTypes: ['violations'], iframes: false, ...(rules && { runOnly: rules }) };
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axeSource);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, ${JSON.stringify(options)})`,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
