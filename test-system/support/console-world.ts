import type { Browser } from 'playwright-core';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { setOperator } from '../../src/accounts/account/person-store.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import { addPasskey } from '../../test/support/add-passkey.ts';
import { password } from '../../test/support/session-world.ts';
import { openShop, type Shop } from '../../test/support/shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService, type TestService } from '../../test/support/test-service.ts';
import { type ConsoleVisit, visitConsole } from './console-visit.ts';
import { openChromium, type VisitorOptions } from './open-chromium.ts';

/** A shop whose owner uses the console: one database, service and browser per file. */
export interface ConsoleWorld {
  readonly browser: Browser;
  readonly database: Database;
  readonly service: TestService;
  readonly shop: Shop;
  /** A new window in which the owner is signed in. */
  signedIn(options?: VisitorOptions): Promise<ConsoleVisit>;
}

export async function openConsoleWorld(
  environment: Readonly<Record<string, string>> = {},
): Promise<ConsoleWorld> {
  const [{ url: databaseUrl, database }, browser] = await Promise.all([
    createTestDatabase(),
    openChromium(),
  ]);
  const service = await startTestService({ databaseUrl, environment });
  const shop = await openShop(database);
  await saveMembership(database.kysely, {
    accountId: shop.id,
    personId: shop.owner.id,
    role: 'owner',
  });
  await setOperator(database.kysely, shop.owner.id, true);
  // Password checks are slow on purpose, so the windows share one session.
  let session: Awaited<ReturnType<ConsoleVisit['context']['cookies']>> | undefined;
  return {
    browser,
    database,
    service,
    shop,
    async signedIn(options = {}) {
      const visit = await visitConsole(browser, service.url, options);
      if (session === undefined) {
        await visit.signIn(shop.owner.email, password);
        session = await visit.context.cookies();
        // Operators need a second factor once mail leaves the machine.
        if (environment.DELIVERY !== undefined) await addPasskey(database, shop.owner.id);
      } else await visit.context.addCookies(session);
      return visit;
    },
  };
}
