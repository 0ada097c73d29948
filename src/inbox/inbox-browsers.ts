import { randomBytes } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hashToken } from '../access/token-mint.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { consumeOneTimeLink, isValidOneTimeLink } from '../session/one-time-link-store.ts';
import { isInboxBrowser, saveInboxBrowser } from './inbox-browser-store.ts';

/** Seconds that a browser may read the inbox after it opened a link. */
const browserSeconds = 7 * 24 * 3600;

/** 256 random bits, as codes and cookies have them; anything else costs no query. */
const secretPattern = /^[A-Za-z0-9_-]{43}$/;

export interface InboxBrowsersDependencies {
  readonly database: Pick<Database, 'kysely'>;
  /** True where the browser reaches the service by TLS. */
  readonly isSecure: (request: FastifyRequest) => boolean;
}

/** Browsers that opened the inbox by a one-time link: a cookie with a random value, of which the database has the hash. */
export class InboxBrowsers {
  readonly #dependencies: InboxBrowsersDependencies;

  constructor(dependencies: InboxBrowsersDependencies) {
    this.#dependencies = dependencies;
  }

  async isKnown(request: FastifyRequest): Promise<boolean> {
    const value = parseCookie(request.headers.cookie ?? '')[this.#cookieName(request)];
    if (value === undefined || !secretPattern.test(value)) return false;
    const { database } = this.#dependencies;
    return isInboxBrowser(database.kysely, hashToken(value));
  }

  /** Lets the browser in for a code that has not been used. @returns false where the code is worth nothing */
  async admit(code: string, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { database, isSecure } = this.#dependencies;
    const hash = hashToken(code);
    // A stranger's guess costs one look and no transaction.
    const isValid =
      secretPattern.test(code) && (await isValidOneTimeLink(database.kysely, 'inbox', hash));
    if (!isValid) return false;
    const value = randomBytes(32).toString('base64url');
    const admitted = await database.kysely.transaction().execute(async (transaction) => {
      if (!(await consumeOneTimeLink(transaction, 'inbox', hash))) return false;
      await saveInboxBrowser(transaction, hashToken(value), browserSeconds);
      return true;
    });
    if (admitted) {
      const cookie = stringifySetCookie({
        name: this.#cookieName(request),
        value,
        // `__Host-` asks for this path (RFC 6265bis section 4.1.3.2).
        path: '/',
        maxAge: browserSeconds,
        httpOnly: true,
        sameSite: 'lax',
        secure: isSecure(request),
      });
      reply.header('set-cookie', cookie);
    }
    return admitted;
  }

  #cookieName(request: FastifyRequest): string {
    return this.#dependencies.isSecure(request) ? '__Host-signalpost-inbox' : 'signalpost-inbox';
  }
}
