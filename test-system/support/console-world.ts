import { test } from 'node:test';
import type { Browser } from 'playwright-core';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { setOperator } from '../../src/accounts/account/person-store.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import { addPasskey } from '../../test/support/add-passkey.ts';
import { openShop, type Shop } from '../../test/support/shop.ts';
import { signIn } from '../../test/support/sign-in.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService, type TestService } from '../../test/support/test-service.ts';
import { type ConsoleVisit, visitConsole } from './console-visit.ts';
import { freePort } from './free-port.ts';
import { keptVisitor, openChromium, type VisitorOptions } from './open-chromium.ts';

/** The device of a window in which the owner is signed in. */
interface WindowOptions extends VisitorOptions {
  /** With cookies, cache and clock of its own, for tests that change them or stop the service. Default: false */
  readonly separate?: boolean;
}

/** A shop whose owner uses the console: one database and service per file, one browser per process. */
export interface ConsoleWorld {
  readonly browser: Browser;
  readonly database: Database;
  readonly service: TestService;
  readonly shop: Shop;
  /** A new window in which the owner is signed in, with nothing stored. The one before is closed, unless it is separate. */
  signedIn(options?: WindowOptions): Promise<ConsoleVisit>;
  /** Defines a test in such a window, which has to end without problems. */
  it(name: string, run: (visit: ConsoleVisit) => Promise<void>): void;
}

/** The port of one service after another: Chromium keeps what it loaded from a URL, and compiled. */
let keptPort: Promise<number> | undefined;

export async function openConsoleWorld(
  environment: Readonly<Record<string, string>> = {},
): Promise<ConsoleWorld> {
  keptPort ??= freePort();
  const [{ url: databaseUrl, database }, browser, port] = await Promise.all([
    createTestDatabase(),
    openChromium(),
    keptPort,
  ]);
  const service = await startTestService({
    databaseUrl,
    environment: { PORT: String(port), ...environment },
  });
  const shop = await openShop(database);
  await saveMembership(database.kysely, {
    accountId: shop.id,
    personId: shop.owner.id,
    role: 'owner',
  });
  await setOperator(database.kysely, shop.owner.id, true);
  const context = await keptVisitor(browser);
  const [name = '', value = ''] = (await signIn(service, shop.owner.email)).split(/=(.*)/);
  const session = [{ name, value, url: service.url, httpOnly: true, sameSite: 'Lax' as const }];
  // Operators need a second factor once mail leaves the machine.
  if (environment.DELIVERY !== undefined) await addPasskey(database, shop.owner.id);
  // Keeps the process of the other windows alive.
  const [first = await context.newPage()] = context.pages();
  await first.goto(`${service.url}/healthz`);
  const storage = await context.newCDPSession(first);
  const world: ConsoleWorld = {
    browser,
    database,
    service,
    shop,
    it(name, run) {
      void test(name, async () => {
        const visit = await world.signedIn();
        await run(visit);
        await visit.end();
      });
    },
    async signedIn({ separate = false, ...options } = {}) {
      if (separate || options.timeZone !== undefined || options.locale !== undefined) {
        const visit = await visitConsole(browser, service.url, options);
        await visit.context.addCookies(session);
        return visit;
      }
      // After a failed test, its window is still open.
      const left = context.pages().filter((page) => page !== first);
      await Promise.all(left.map((page) => page.close()));
      await context.clearCookies();
      await context.addCookies(session);
      await storage.send('Storage.clearDataForOrigin', {
        origin: service.url,
        storageTypes: 'local_storage',
      });
      return visitConsole(browser, service.url, options, context);
    },
  };
  return world;
}
