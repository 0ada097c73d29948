import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hashToken } from '../access/token-mint.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { HostCookie, type TlsCheck } from '../session/browser/browser-sessions.ts';
import { consumeOneTimeLink, isValidOneTimeLink } from '../session/one-time-link-store.ts';
import { isInboxBrowser, saveInboxBrowser } from './inbox-browser-store.ts';

/** Seconds of access after a browser opened a link. */
const browserSeconds = 7 * 24 * 3600;

/** 256 random bits in base64url, as in codes and cookies; anything else is rejected without a query. */
const secretPattern = /^[A-Za-z0-9_-]{43}$/;

export interface InboxBrowsersDependencies {
  readonly database: Pick<Database, 'kysely'>;
  readonly browser: TlsCheck;
}

/** Browsers that opened the inbox with a one-time link: a cookie with a random value, whose hash is in the database. */
export class InboxBrowsers {
  readonly #dependencies: InboxBrowsersDependencies;
  readonly #cookie: HostCookie;

  constructor(dependencies: InboxBrowsersDependencies) {
    this.#dependencies = dependencies;
    this.#cookie = new HostCookie('signalpost-inbox', dependencies.browser);
  }

  async isKnown(request: FastifyRequest): Promise<boolean> {
    const value = this.#cookie.read(request);
    if (!secretPattern.test(value)) return false;
    const { database } = this.#dependencies;
    return isInboxBrowser(database.kysely, hashToken(value));
  }

  /** Gives the browser access for an unused code. @returns false if the code is invalid */
  async admit(code: string, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { database } = this.#dependencies;
    const hash = hashToken(code);
    // A guess costs one lookup and no transaction.
    const isValid =
      secretPattern.test(code) && (await isValidOneTimeLink(database.kysely, 'inbox', hash));
    if (!isValid) return false;
    const value = randomBytes(32).toString('base64url');
    const admitted = await database.kysely.transaction().execute(async (transaction) => {
      if (!(await consumeOneTimeLink(transaction, 'inbox', hash))) return false;
      await saveInboxBrowser(transaction, hashToken(value), browserSeconds);
      return true;
    });
    if (admitted) this.#cookie.set(request, reply, value, browserSeconds);
    return admitted;
  }
}
