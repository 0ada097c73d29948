import type { FastifyRequest } from 'fastify';
import { type AccessFacts, authorize } from '../access/authorize.ts';
import type { InboxReader, PersonPrincipal } from '../access/principal.ts';
import { bearerTokenOf, isSameSecret } from '../http/bearer-token.ts';
import { type BrowserSession, principalOf } from '../session/browser/browser-session-store.ts';
import type { CheckInboxAccess } from './guard-inbox.ts';
import type { InboxBrowsers } from './inbox-browsers.ts';

export interface InboxAccessDependencies {
  readonly facts: AccessFacts;
  /** The Bearer token for programs; undefined: programs have no access. */
  readonly token: string | undefined;
  readonly browsers: Pick<InboxBrowsers, 'isKnown'>;
  readonly browser: {
    findSignedIn(request: FastifyRequest): Promise<BrowserSession | undefined>;
  };
}

/** Checks who may read all captured mail: whoever has the inbox's token or opened one of its links, and operators. */
export function createInboxAccessCheck(dependencies: InboxAccessDependencies): CheckInboxAccess {
  return async (request) => {
    const { refusal } = await authorize(dependencies.facts, await identify(dependencies, request), {
      api: 'management',
      access: 'inbox',
      remoteAddress: () => request.ip,
    });
    if (refusal === undefined) return 'open';
    return refusal === 'unauthenticated' ? 'unknown' : 'forbidden';
  };
}

/** A wrong Bearer token is rejected even with a valid cookie. */
async function identify(
  { token, browsers, browser }: InboxAccessDependencies,
  request: FastifyRequest,
): Promise<InboxReader | PersonPrincipal | undefined> {
  const reader = { kind: 'inbox-reader' } as const;
  const given = bearerTokenOf(request);
  if (given !== undefined)
    return token !== undefined && isSameSecret(given, token) ? reader : undefined;
  if (await browsers.isKnown(request)) return reader;
  const session = await browser.findSignedIn(request);
  return session && principalOf(session);
}
