import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hashToken } from '../../access/token-mint.ts';
import type { PersonId } from '../../foundation/ids.ts';
import type { MasterKey } from '../../foundation/master-key.ts';
import type { PurposeKeys } from '../../foundation/purpose-keys.ts';
import { isSameOrigin } from '../../http/same-origin.ts';
import type { Form } from '../form.ts';
import { preferredLocale } from '../preferred-locale.ts';
import type { BrowserSession, BrowserSessionStore } from './browser-session-store.ts';

/** Seconds that a sign-in lasts in a browser. */
const sessionSeconds = 12 * 3600;
/** Seconds in which the second factor must follow the password. */
const secondFactorSeconds = 10 * 60;

const cookieValue = /^[A-Za-z0-9_-]{43}$/;

/** What a page knows of the browser that asks for it. */
export interface BrowserVisit {
  /** Proof for forms that this browser, with the session that it has now, was given the page. */
  readonly csrf: string;
  /** Who is signed in, the second factor included where there is one. */
  readonly person: BrowserSession | undefined;
  /** Who gave the right password and still owes the second factor. */
  readonly awaitingSecondFactor: BrowserSession | undefined;
}

export interface BrowserSessionsDependencies {
  readonly store: BrowserSessionStore;
  readonly key: MasterKey;
  /** The address that others see. */
  readonly publicUrl: () => string;
}

/**
 * Browsers and their sessions: one cookie with a random value, of which the database has the hash. The value is
 * replaced whenever the browser's rights grow, so that nobody can plant one (session fixation, ASVS 3.2.1).
 */
export class BrowserSessions {
  readonly #dependencies: BrowserSessionsDependencies;
  readonly #csrfKeys: PurposeKeys;

  constructor(dependencies: BrowserSessionsDependencies) {
    this.#dependencies = dependencies;
    this.#csrfKeys = dependencies.key.keysFor('csrf');
  }

  /** Who is visiting; a browser without a cookie gets one, so that its forms can be bound to it. */
  async visit(request: FastifyRequest, reply: FastifyReply): Promise<BrowserVisit> {
    const value = this.#read(request);
    if (value === undefined) {
      const newValue = this.#setCookie(request, reply);
      return { csrf: this.#csrf(newValue), person: undefined, awaitingSecondFactor: undefined };
    }
    const found = await this.#find(value);
    return {
      csrf: this.#csrf(value),
      person: found?.complete ? found : undefined,
      awaitingSecondFactor: found?.complete === false ? found : undefined,
    };
  }

  /** Who is signed in with the browser that sent a request, the second factor included; for other rooms' pages. */
  async findSignedIn(request: FastifyRequest): Promise<BrowserSession | undefined> {
    const value = this.#read(request);
    const found = value === undefined ? undefined : await this.#find(value);
    return found?.complete ? found : undefined;
  }

  /** True where the form comes from a page that this service gave to this browser with its present session. */
  hasValidCsrfToken(request: FastifyRequest, form: Form): boolean {
    const value = this.#read(request);
    const sent = form.get('csrf');
    if (value === undefined || sent === undefined || !this.#isSameOrigin(request)) return false;
    const given = Buffer.from(sent);
    return this.#csrfKeys.some((key) => {
      const expected = Buffer.from(csrfToken(key, value));
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  }

  /** Signs the browser in under a new cookie value; the old one is worth nothing from here on. */
  async signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    personId: PersonId,
    complete: boolean,
  ): Promise<void> {
    const { store } = this.#dependencies;
    await this.signOut(request);
    const session = {
      hash: hashToken(this.#setCookie(request, reply)),
      personId,
      complete,
      seconds: complete ? sessionSeconds : secondFactorSeconds,
      remoteAddress: request.ip,
      userAgent: (request.headers['user-agent'] ?? '').slice(0, 300),
      locale: preferredLocale(request),
    };
    await store.create(session);
  }

  /** Ends the browser's session. The cookie stays as that of a stranger, so that forms go on working. */
  async signOut(request: FastifyRequest): Promise<void> {
    const value = this.#read(request);
    if (value !== undefined) await this.#dependencies.store.end(hashToken(value));
  }

  /** True where the browser reaches the service by TLS. */
  isSecure(request: FastifyRequest): boolean {
    return request.protocol === 'https' || this.#dependencies.publicUrl().startsWith('https:');
  }

  /** Behind a proxy that ends TLS, the address that others see is the origin that browsers name. */
  #isSameOrigin(request: FastifyRequest): boolean {
    const { origin, 'sec-fetch-site': site } = request.headers;
    const publicOrigin = new URL(this.#dependencies.publicUrl()).origin;
    return isSameOrigin(request) || (site === undefined && origin === publicOrigin);
  }

  #find(value: string): Promise<BrowserSession | undefined> {
    return this.#dependencies.store.find(hashToken(value));
  }

  #csrf(value: string): string {
    return csrfToken(this.#csrfKeys.current, value);
  }

  #read(request: FastifyRequest): string | undefined {
    const value = parseCookie(request.headers.cookie ?? '')[this.#cookieName(request)];
    return value !== undefined && cookieValue.test(value) ? value : undefined;
  }

  #setCookie(request: FastifyRequest, reply: FastifyReply): string {
    const value = randomBytes(32).toString('base64url');
    const header = stringifySetCookie({
      name: this.#cookieName(request),
      value,
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: this.isSecure(request),
    });
    const others = [reply.getHeader('set-cookie') ?? []].flat().map(String);
    // A later session of the same answer replaces an earlier one.
    const otherCookies = others.filter(
      (other) => !other.startsWith(`${this.#cookieName(request)}=`),
    );
    reply.removeHeader('set-cookie').header('set-cookie', [...otherCookies, header]);
    return value;
  }

  /** `__Host-` lets no neighbouring host plant the cookie (RFC 6265bis section 4.1.3.2); it needs TLS. */
  #cookieName(request: FastifyRequest): string {
    return this.isSecure(request) ? '__Host-signalpost' : 'signalpost';
  }
}

function csrfToken(key: KeyObject, value: string): string {
  return createHmac('sha256', key).update(value).digest('base64url');
}
