import type { FastifyRequest } from 'fastify';
import type { Database } from '../foundation/database/open-database.ts';
import { bearerTokenOf, isSameSecret } from '../http/bearer-token.ts';
import { type BrowserSession, principalOf } from '../session/browser/browser-session-store.ts';
import type { CheckInboxAccess } from './guard-inbox.ts';
import type { InboxBrowsers } from './inbox-browsers.ts';
import { readableMail } from './inbox-reader-store.ts';

export interface InboxAccessDependencies {
  readonly database: Pick<Database, 'kysely'>;
  /** The Bearer token for programs; undefined: programs have no access. */
  readonly token: string | undefined;
  readonly browsers: Pick<InboxBrowsers, 'isKnown'>;
  readonly browser: {
    findSignedIn(request: FastifyRequest): Promise<BrowserSession | undefined>;
  };
}

/**
 * Accepts the inbox's token, the cookie of a one-time link, or an operator's browser session. A wrong Bearer token is
 * rejected even with a valid cookie.
 */
export function createInboxAccessCheck({
  database,
  token,
  browsers,
  browser,
}: InboxAccessDependencies): CheckInboxAccess {
  return async (request) => {
    const given = bearerTokenOf(request);
    if (given !== undefined) {
      return token !== undefined && isSameSecret(given, token) ? 'open' : 'unknown';
    }
    if (await browsers.isKnown(request)) return 'open';
    const reader = await browser.findSignedIn(request);
    if (reader === undefined) return 'unknown';
    const readable = await readableMail(database.kysely, principalOf(reader));
    return readable === 'all' ? 'open' : 'forbidden';
  };
}
