import type { FastifyRequest } from 'fastify';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';
import { bearerTokenOf, isSameSecret } from '../http/bearer-token.ts';
import type { CheckInboxAccess } from './guard-inbox.ts';
import type { InboxBrowsers } from './inbox-browsers.ts';
import { readableMail } from './inbox-reader-store.ts';

/** A signed-in person who wants to read the inbox. */
interface InboxVisitor {
  readonly personId: PersonId;
  readonly provider: { readonly accountId: AccountId | undefined } | undefined;
}

export interface InboxAccessDependencies {
  readonly database: Pick<Database, 'kysely'>;
  /** The Bearer token for programs; undefined: programs have no access. */
  readonly token: string | undefined;
  readonly browsers: Pick<InboxBrowsers, 'isKnown'>;
  readonly browser: {
    findSignedIn(request: FastifyRequest): Promise<InboxVisitor | undefined>;
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
    const { personId, provider } = reader;
    // A session of an account's provider reaches that account only; the inbox has everyone's mail.
    if (provider?.accountId !== undefined) return 'forbidden';
    const readable = await readableMail(database.kysely, { personId, boundTo: undefined });
    return readable === 'all' ? 'open' : 'forbidden';
  };
}
