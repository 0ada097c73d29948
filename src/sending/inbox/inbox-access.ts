import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AccessFacts, authorize } from '../../accounts/access/authorize.ts';
import type { InboxReader, PersonPrincipal } from '../../accounts/access/principal.ts';
import { hashToken } from '../../accounts/access/token-mint.ts';
import {
  type BrowserSession,
  principalOf,
} from '../../accounts/sign-in/browser/browser-session-store.ts';
import { HostCookie, type TlsCheck } from '../../accounts/sign-in/browser/browser-sessions.ts';
import { consumeOneTimeLink } from '../../accounts/sign-in/one-time-link-store.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';
import type { Clock } from '../../base/values/clock.ts';
import { bearerTokenOf, isSameSecret } from '../../host/http/bearer-token.ts';
import type { Http } from '../../host/http/create-http.ts';
import { isSameOrigin, isSameOriginOrVisit } from '../../host/http/same-origin.ts';
import type { AnswerProblem } from './answer-page.ts';

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
  readonly readers: Pick<InboxReaders, 'find'>;
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

async function identify(
  { readers, browser }: InboxAccessDependencies,
  request: FastifyRequest,
): Promise<InboxReader | PersonPrincipal | undefined> {
  const reader = readers.find(request);
  if (reader !== undefined || bearerTokenOf(request) !== undefined) return reader;
  const session = await browser.findSignedIn(request);
  return session && principalOf(session);
}

/** Seconds of access after a browser opened a link. */
const browserSeconds = 7 * 24 * 3600;

/** Proves until when a browser reads the inbox: a time in seconds since the epoch, and its signature. */
const passPattern = /^(\d{1,12})\.([A-Za-z0-9_-]{43})$/;

interface InboxReadersDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly key: MasterKey;
  /** The Bearer token for programs; undefined: programs have no access. */
  readonly token: string | undefined;
  readonly browser: TlsCheck;
}

/** Knows whoever has the token of the inbox, or a browser that opened one of its one-time links and got a signed cookie for it. */
export class InboxReaders {
  readonly #dependencies: InboxReadersDependencies;
  readonly #keys: PurposeKeys;
  readonly #cookie: HostCookie;

  constructor(dependencies: InboxReadersDependencies) {
    this.#dependencies = dependencies;
    this.#keys = dependencies.key.keysFor('inbox reader');
    this.#cookie = new HostCookie('signalpost-inbox', dependencies.browser);
  }

  /** @returns undefined for others. A wrong Bearer token is rejected even with a valid cookie */
  find(request: FastifyRequest): InboxReader | undefined {
    const { token } = this.#dependencies;
    const given = bearerTokenOf(request);
    const isReader =
      given === undefined
        ? this.#hasPass(request)
        : token !== undefined && isSameSecret(given, token);
    return isReader ? { kind: 'inbox-reader' } : undefined;
  }

  /** Gives the browser access for an unused code. @returns false if the code is invalid */
  async admit(code: string, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { database, clock } = this.#dependencies;
    if (!(await consumeOneTimeLink(database.kysely, 'inbox', hashToken(code)))) return false;
    const until = String(Math.floor(clock.now() / 1_000) + browserSeconds);
    this.#cookie.set(request, reply, `${until}.${this.#keys.signText(until)}`, browserSeconds);
    return true;
  }

  #hasPass(request: FastifyRequest): boolean {
    const [, until = '', signature = ''] = passPattern.exec(this.#cookie.read(request)) ?? [];
    return (
      this.#keys.verifyText(until, signature) &&
      Number(until) * 1_000 > this.#dependencies.clock.now()
    );
  }
}
