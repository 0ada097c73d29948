import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AccessFacts, authorize } from '../../accounts/access/authorize.ts';
import type { InboxReader, PersonPrincipal } from '../../accounts/access/principal.ts';
import { hashToken } from '../../accounts/access/token-mint.ts';
import {
  type BrowserSession,
  principalOf,
} from '../../accounts/sign-in/browser/browser-session-store.ts';
import { HostCookie, type TlsCheck } from '../../accounts/sign-in/browser/browser-sessions.ts';
import {
  consumeOneTimeLink,
  isValidOneTimeLink,
} from '../../accounts/sign-in/one-time-link-store.ts';
import type { Database, Kysely } from '../../base/database/open-database.ts';
import { bearerTokenOf, isSameSecret } from '../../host/http/bearer-token.ts';
import type { Http } from '../../host/http/create-http.ts';
import { isSameOrigin, isSameOriginOrVisit } from '../../host/http/same-origin.ts';
import type { AnswerProblem } from './answer-page.ts';
import { isInboxBrowser, saveInboxBrowser } from './inbox-browser-store.ts';

/** Checks a caller: allowed, not authenticated, or authenticated without access to all mail. */
export type CheckInboxAccess = (
  request: FastifyRequest,
) => Promise<'open' | 'unknown' | 'forbidden'>;

const safeMethods = new Set(['GET', 'HEAD']);

/**
 * Admits only callers who may see password reset links, and no requests that another site's page makes on their behalf.
 * Anonymous callers get a 401 with instructions.
 */
export function guardInbox(
  http: Http,
  checkAccess: CheckInboxAccess,
  answerProblem: AnswerProblem,
): void {
  http.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'inbox' };
  });
  http.addHook('onRequest', async (request, reply) => {
    setSecurityHeaders(reply);
    const access = await checkAccess(request);
    if (access === 'unknown') {
      const message =
        'Send the service’s INBOX_TOKEN as a Bearer token. If you didn’t set one, it’s in demo.env in the data folder.';
      return answerProblem(request, reply, { status: 401, message });
    }
    if (access === 'forbidden') {
      return answerProblem(request, reply, {
        status: 403,
        message:
          'This inbox also contains the service’s own mail, such as password links, so only operators can open it. If you’re an owner or developer in every account, you can see the rest in the console.',
      });
    }
    const isAllowed = safeMethods.has(request.method)
      ? isSameOriginOrVisit(request)
      : isSameOrigin(request);
    if (!isAllowed) {
      return answerProblem(request, reply, {
        status: 403,
        message: 'Requests from other sites aren’t allowed.',
      });
    }
    return undefined;
  });
}

/** Sets the header fields of every inbox response; pages also set a Content-Security-Policy. */
export function setSecurityHeaders(reply: FastifyReply): void {
  reply.headers({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  });
}

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

/** Seconds of access after a browser opened a link. */
const browserSeconds = 7 * 24 * 3600;

/** 256 random bits in base64url, as in codes and cookies; anything else is rejected without a query. */
const secretPattern = /^[A-Za-z0-9_-]{43}$/;

/** Browsers that opened the inbox with a one-time link: a cookie with a random value, whose hash is in the database. */
export class InboxBrowsers {
  readonly #kysely: Kysely;
  readonly #cookie: HostCookie;

  constructor({ database, browser }: { readonly database: Database; readonly browser: TlsCheck }) {
    this.#kysely = database.kysely;
    this.#cookie = new HostCookie('signalpost-inbox', browser);
  }

  async isKnown(request: FastifyRequest): Promise<boolean> {
    const value = this.#cookie.read(request);
    if (!secretPattern.test(value)) return false;
    return isInboxBrowser(this.#kysely, hashToken(value));
  }

  /** Gives the browser access for an unused code. @returns false if the code is invalid */
  async admit(code: string, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const hash = hashToken(code);
    // A guess costs one lookup and no transaction.
    const isValid =
      secretPattern.test(code) && (await isValidOneTimeLink(this.#kysely, 'inbox', hash));
    if (!isValid) return false;
    const value = randomBytes(32).toString('base64url');
    const admitted = await this.#kysely.transaction().execute(async (transaction) => {
      if (!(await consumeOneTimeLink(transaction, 'inbox', hash))) return false;
      await saveInboxBrowser(transaction, hashToken(value), browserSeconds);
      return true;
    });
    if (admitted) this.#cookie.set(request, reply, value, browserSeconds);
    return admitted;
  }
}
