import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { consoleFolder } from '../../src/console-server/console-files.ts';
import { findBarriers, newVisitor, takeScreenshot, type VisitorOptions } from './open-chromium.ts';

/** What a page of the console may ask for, beside itself: files of the build, the API, and the sign-in. */
const allowed = [
  /^\/console(?:\/|$)/,
  /^\/manage\/v1\//,
  /^\/sign-in(?:\/|\?|$)/,
  /^\/session\.css$/,
  /^\/$/,
];

/** One browser window at the console, which notes all that it asks for and all that goes wrong in it. */
export interface ConsoleVisit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Signs in by address and password, and waits for the first page. */
  signIn(email: string, password: string): Promise<void>;
  open(path: string): Promise<void>;
  /** Keeps a picture, and notes every barrier (axe-core), what is wider than the screen, and alerts that are cut. */
  look(name: string): Promise<void>;
  /**
   * Nothing was wrong with what was looked at, nothing was refused by the policy, no script failed, and nothing was asked
   * for but API and files.
   */
  end(): Promise<void>;
}

export async function visitConsole(
  browser: Browser,
  url: string,
  options: VisitorOptions = {},
): Promise<ConsoleVisit> {
  assert.ok(existsSync(consoleFolder), 'the console has to be built first: npm run console');
  const context = await newVisitor(browser, options);
  const page = await context.newPage();
  // Some pages come together on a machine that has much else to do.
  page.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  const strangers: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text()))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const asked = new URL(request.url());
    const path = asked.pathname + asked.search;
    if (asked.protocol === 'data:') return;
    if (asked.origin !== url || !allowed.some((pattern) => pattern.test(path)))
      strangers.push(request.url());
  });
  return {
    page,
    context,
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
    async look(name) {
      await page.evaluate('document.fonts.ready');
      // What still fades in has too little contrast.
      await page.evaluate(
        'Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished))',
      );
      await takeScreenshot(page, `console-${name}`);
      const barriers = await findBarriers(page);
      if (barriers.length > 0) complaints.push(`${name}: ${barriers.join(', ')}`);
      const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      if (wide === true) complaints.push(`${name} is wider than the screen`);
      const cut = await page.evaluate(
        "[...document.querySelectorAll('[role=alert]')].some((one) => one.scrollWidth > one.clientWidth + 1)",
      );
      if (cut === true) complaints.push(`${name} cuts what went wrong`);
    },
    async end() {
      assert.deepEqual(complaints, []);
      assert.deepEqual(strangers, []);
      await context.close();
    },
  };
}
