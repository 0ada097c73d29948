import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database, Kysely } from '../../../base/database/open-database.ts';
import type { PersonId } from '../../../base/values/ids.ts';
import { hashToken } from '../../access/token-mint.ts';
import { type BrowserProof, isKnownBrowser, saveKnownBrowser } from './browser-session-store.ts';
import { HostCookie, type TlsCheck } from './browser-sessions.ts';

const deviceCookieDays = 180;
const valuePattern = /^[A-Za-z0-9_-]{43}$/;

/** Who signs in, and how they proved it. */
interface KnownPerson {
  readonly personId: PersonId;
  readonly email: string;
  readonly proof: BrowserProof;
}

/**
 * Remembers in a cookie that a person has signed in with a browser before (OWASP: device cookies). It grants no access: wrong
 * passwords from it are counted separately, so that an attacker's flood doesn't slow the person down. Only what the person
 * proved on their own counts for that; a provider could make as many browsers known as it likes.
 */
export class KnownDevices {
  readonly #kysely: Kysely;
  readonly #ownCookie: HostCookie;
  readonly #providerCookie: HostCookie;

  constructor({ kysely }: Database, browser: TlsCheck) {
    this.#kysely = kysely;
    this.#ownCookie = new HostCookie('signalpost-device', browser);
    this.#providerCookie = new HostCookie('signalpost-provider-device', browser);
  }

  /** Identifies the browser if this person proved here before who they are. */
  async read(
    request: FastifyRequest,
    email: string,
    proof: BrowserProof = 'own',
  ): Promise<string | undefined> {
    const value = this.#cookieOf(proof).read(request);
    if (!valuePattern.test(value)) return undefined;
    return (await isKnownBrowser(this.#kysely, email, proof, hashToken(value))) ? value : undefined;
  }

  /** Records that the person has signed in. A browser that wasn't known gets a new cookie, so nobody can choose it. */
  async remember(
    request: FastifyRequest,
    reply: FastifyReply,
    { personId, email, proof }: KnownPerson,
  ): Promise<void> {
    const value = (await this.read(request, email, proof)) ?? randomBytes(32).toString('base64url');
    await saveKnownBrowser(this.#kysely, personId, proof, hashToken(value));
    this.#cookieOf(proof).set(request, reply, value, deviceCookieDays * 86_400);
  }

  #cookieOf(proof: BrowserProof): HostCookie {
    return proof === 'own' ? this.#ownCookie : this.#providerCookie;
  }
}
