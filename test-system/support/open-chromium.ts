import assert from 'node:assert/strict';
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
let kept: Promise<BrowserContext> | undefined;

/** The system's Chromium, one for all files of the process; what a file opened in it is closed at the end of the file. */
export async function openChromium(): Promise<Browser> {
  opened ??= launchChromium();
  const browser = await opened;
  after(async () => {
    const other = await kept;
    const left = browser.contexts().filter((context) => context !== other);
    await Promise.all(left.map((context) => context.close()));
  });
  return browser;
}

/** A visitor whose cache all files of the process share: whoever uses it clears the rest. */
export function keptVisitor(browser: Browser): Promise<BrowserContext> {
  kept ??= newVisitor(browser);
  return kept;
}

async function launchChromium(): Promise<Browser> {
  const browser = await chromium.launch({
    timeout: 120_000,
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
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
export async function newVisitor(
  browser: Browser,
  options: VisitorOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: viewportOf(options),
    colorScheme: options.dark ? 'dark' : 'light',
    javaScriptEnabled: options.script ?? true,
    ignoreHTTPSErrors: true,
    ...(options.timeZone !== undefined && { timezoneId: options.timeZone }),
    ...(options.locale !== undefined && { locale: options.locale }),
  });
  // Allows for a busy machine.
  context.setDefaultTimeout(60_000);
  return context;
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

/** Waits until nothing changes its color any more: what is fading in has too little contrast. */
export async function finishTransitions(page: Page): Promise<void> {
  // A change of the scheme begins its transitions with the next frame.
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
  );
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished))',
  );
}

/** Takes a screenshot, and fails if the page isn't accessible or is wider than the screen. */
export async function lookAt(
  page: Page,
  name: string,
  { dark = false, script = true }: Pick<VisitorOptions, 'dark' | 'script'> = {},
): Promise<void> {
  await takeScreenshot(page, name);
  // axe-core needs scripts in the page.
  if (script) assert.deepEqual(await findBarriers(page), [], name);
  const overflow = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  assert.equal(overflow, false, `${name} is wider than the screen`);
  if (!dark) return;
  await page.emulateMedia({ colorScheme: 'dark' });
  await finishTransitions(page);
  await takeScreenshot(page, `${name}-dark`);
  assert.deepEqual(await findBarriers(page, colorRules), [], `${name} in the dark`);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Opens a page that collects refused loads and script errors. */
export async function openPage(
  visitor: BrowserContext,
): Promise<{ page: Page; complaints: string[] }> {
  const page = await visitor.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text()))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, complaints };
}
