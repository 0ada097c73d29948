import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { consoleFolder } from '../../src/host/console-server/console-files.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import {
  findBarriers,
  finishTransitions,
  newVisitor,
  takeScreenshot,
  takesScreenshots,
  type VisitorOptions,
  viewportOf,
} from './open-chromium.ts';

/** The URLs that a console page may request: files of the build, the API, and the sign-in. */
const allowed = [
  /^\/console(?:\/|$)/,
  /^\/manage\/v1\//,
  /^\/sign-in(?:\/|\?|$)/,
  /^\/brand\/[\w-]+-[\w.-]+$/,
  /^\/images\//,
  /^\/$/,
];

/** A browser window with the console that records its requests and problems. */
export interface ConsoleVisit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Signs in with address and password, and waits for the first page. */
  signIn(email: string, password: string): Promise<void>;
  open(path: string): Promise<void>;
  /** Goes to another page of the open console, as a link does: without loading the console again. */
  move(path: string): Promise<void>;
  /** Waits until the page has all its data and shows it. */
  settle(): Promise<void>;
  /**
   * Takes a screenshot and records accessibility problems (axe-core), overflow and truncated alerts.
   * @param rules of axe-core; default: all
   */
  look(name: string, rules?: readonly string[]): Promise<void>;
  /**
   * Closes the window. Fails if `look` found a problem, the policy blocked a load, a script failed, or a page requested
   * anything but the API and files.
   */
  end(): Promise<void>;
  /** Closes the window of a test in which pages complain. */
  close(): Promise<void>;
}

/**
 * The browser draws sandboxed frames only while they are in view, so the window is scrolled to the first one that isn't. What
 * sticks to the window stays where it is at the top of the page. Tells whether others are still out of view.
 */
const scrollToFrame = `(async () => {
  const frames = [...document.querySelectorAll('iframe')];
  if (frames.length === 0) return false;
  scrollTo({ top: 0, behavior: 'instant' });
  const isHidden = (one) => one.getBoundingClientRect().bottom > innerHeight;
  const hidden = frames.find(isHidden);
  if (hidden === undefined) return false;
  for (const one of document.querySelectorAll('body *'))
    if (getComputedStyle(one).position === 'sticky') {
      one.dataset.unstuck = '';
      one.style.position = 'relative';
      one.style.inset = 'auto';
    }
  const { top, height } = hidden.getBoundingClientRect();
  scrollTo({ top: top - Math.max(0, innerHeight - height) / 2, behavior: 'instant' });
  for (let drawn = 0; drawn < 3; drawn += 1) await new Promise(requestAnimationFrame);
  return frames.some(isHidden);
})()`;

const scrollBack = `(() => {
  const unstuck = document.querySelectorAll('[data-unstuck]');
  for (const one of unstuck) {
    one.style.position = '';
    one.style.inset = '';
    delete one.dataset.unstuck;
  }
  if (unstuck.length > 0) scrollTo({ top: 0, behavior: 'instant' });
})()`;

/** Takes a screenshot in which all frames are drawn. */
async function takeTallScreenshot(page: Page, name: string): Promise<void> {
  const size = page.viewportSize();
  if ((await page.evaluate(scrollToFrame)) && size !== null) {
    const height = await page.evaluate<number>('document.documentElement.scrollHeight');
    await page.setViewportSize({ ...size, height });
    await page.evaluate(scrollToFrame);
    await takeScreenshot(page, name);
    await page.setViewportSize(size);
  } else await takeScreenshot(page, name);
  await page.evaluate(scrollBack);
}

/** @param shared the window opens in this context, which stays open. Default: one of its own */
export async function visitConsole(
  browser: Browser,
  url: string,
  options: VisitorOptions = {},
  shared?: BrowserContext,
): Promise<ConsoleVisit> {
  assert.ok(existsSync(consoleFolder), 'build the console first: npm run console');
  const context = shared ?? (await newVisitor(browser, options));
  const page = await context.newPage();
  if (shared !== undefined) {
    await page.setViewportSize(viewportOf(options));
    await page.emulateMedia({ colorScheme: options.dark ? 'dark' : 'light' });
  }
  const complaints: string[] = [];
  const unexpectedRequests: string[] = [];
  const pending = new Set<Request>();
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of [45]\d\d/.test(message.text()))
      complaints.push(message.text());
  });
  page.on('response', (response) => {
    if (response.status() < 500) return;
    const complaint = `${response.request().method()} ${response.url()} got ${response.status()}`;
    complaints.push(complaint);
    const addAnswer = (text: string) => {
      complaints[complaints.indexOf(complaint)] = `${complaint}: ${text}`;
    };
    response.text().then(addAnswer, () => undefined);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('requestfailed', (request) => pending.delete(request));
  page.on('request', (request) => {
    // Nobody waits for the requests of the page before.
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) pending.clear();
    pending.add(request);
    const requested = new URL(request.url());
    const path = requested.pathname + requested.search;
    if (requested.protocol === 'data:') return;
    if (requested.origin !== url || !allowed.some((pattern) => pattern.test(path)))
      unexpectedRequests.push(request.url());
  });
  const close = () => (shared === undefined ? context.close() : page.close());
  return {
    page,
    context,
    close,
    async signIn(email, password) {
      await page.goto(`${url}/sign-in?next=/console`);
      await page.getByLabel('Email address').fill(email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(/\/console\/\w+/);
    },
    async open(path) {
      await page.goto(`${url}/console/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    },
    async move(path) {
      const target = `/console/${path}`.replace(/\/$/, '');
      // After a click, nothing that moves would be counted as a layout shift (`hadRecentInput`).
      await page.evaluate(`__TSR_ROUTER__.navigate({ href: '${target}' })`);
      await page.waitForURL(url + target);
      await page.waitForFunction(
        '__TSR_ROUTER__.state.resolvedLocation === __TSR_ROUTER__.state.location',
      );
      await page.getByRole('heading', { level: 1 }).waitFor();
    },
    async settle() {
      // What arrives may make the page ask for more. What it asks for again and again isn't waited for.
      for (let round = 0; round < 3 && pending.size > 0; round += 1) {
        const asked = [...pending];
        await waitFor('the page to have its data', () => !asked.some((one) => pending.has(one)));
        await page.evaluate('new Promise(requestAnimationFrame)');
      }
      await page.locator('.mantine-Skeleton-root:visible').first().waitFor({ state: 'detached' });
    },
    async look(name, rules) {
      await page.evaluate('document.fonts.ready');
      await finishTransitions(page);
      if (takesScreenshots) await takeTallScreenshot(page, `console-${name}`);
      const barriers = await findBarriers(page, rules);
      if (barriers.length > 0) complaints.push(`${name}: ${barriers.join(', ')}`);
      const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      if (wide === true) complaints.push(`${name} is wider than the screen`);
      const cut = await page.evaluate(
        "[...document.querySelectorAll('[role=alert]:not(.visually-hidden)')].some((one) => one.scrollWidth > one.clientWidth + 1)",
      );
      if (cut === true) complaints.push(`${name} truncates an alert`);
    },
    async end() {
      assert.deepEqual(complaints, []);
      assert.deepEqual(unexpectedRequests, []);
      await close();
    },
  };
}
