import { randomBytes } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { networksOf } from '../../../base/network/ip-address.ts';
import type { PurposeKeys } from '../../../base/secrets/purpose-keys.ts';
import type { PersonId } from '../../../base/values/ids.ts';
import { isSameOrigin } from '../../../host/http/same-origin.ts';
import { hashToken } from '../../access/token-mint.ts';
import { isLocale, type Locale } from '../../notices/system-mail.ts';
import type { Form } from '../form.ts';
import type { SessionModuleDependencies } from '../session-dependencies.ts';
import {
  type BrowserSession,
  createBrowserSession,
  endBrowserSession,
  findBrowserSession,
  type ProviderSignIn,
  recordSessionUse,
  renewBrowserSession,
} from './browser-session-store.ts';

/** Knows how a browser reaches the service. */
export interface TlsCheck {
  isSecure(request: FastifyRequest): boolean;
}

/**
 * A cookie of this host alone. Over TLS, `__Host-` keeps sibling hosts from setting it (RFC 6265bis section 4.1.3.2), which
 * requires the path `/`. It is lax, so that browsers send it when a link in a mail or another site leads here.
 */
export class HostCookie {
  readonly #name: string;
  readonly #browser: TlsCheck;

  constructor(name: string, browser: TlsCheck) {
    this.#name = name;
    this.#browser = browser;
  }

  /** @returns an empty string if the browser has none */
  read(request: FastifyRequest): string {
    return parseCookie(request.headers.cookie ?? '')[this.#nameFor(request)] ?? '';
  }

  /**
   * Replaces what the same response already sets.
   * @param maxAge in seconds; undefined: until the browser is closed
   */
  set(request: FastifyRequest, reply: FastifyReply, value: string, maxAge?: number): void {
    const name = this.#nameFor(request);
    const secure = this.#browser.isSecure(request);
    const cookie = stringifySetCookie({
      name,
      value,
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure,
      ...(maxAge === undefined ? {} : { maxAge }),
    });
    const others = [reply.getHeader('set-cookie') ?? []].flat().map(String);
    const kept = others.filter((other) => !other.startsWith(`${name}=`));
    reply.removeHeader('set-cookie').header('set-cookie', [...kept, cookie]);
  }

  remove(request: FastifyRequest, reply: FastifyReply): void {
    this.set(request, reply, '', 0);
  }

  #nameFor(request: FastifyRequest): string {
    return this.#browser.isSecure(request) ? `__Host-${this.#name}` : this.#name;
  }
}

/** Longer headers are ignored. */
const maxHeaderLength = 500;

/** The first supported language that a browser asks for (RFC 9110 section 12.5.4); English by default. */
export function preferredLocale(request: Pick<FastifyRequest, 'headers'>): Locale {
  const header = (request.headers['accept-language'] ?? '').slice(0, maxHeaderLength);
  const preferences = header
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().split(';');
      const weight = parameters.find((parameter) => parameter.trim().startsWith('q='));
      const quality = weight === undefined ? 1 : Number(weight.trim().slice(2));
      return { locale: tag.trim().toLowerCase().split('-')[0], quality };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  for (const { locale } of preferences) if (isLocale(locale)) return locale;
  return 'en';
}

/** Time allowed between password and second factor. */
const secondFactorSeconds = 10 * 60;

const cookieValue = /^[A-Za-z0-9_-]{43}$/;

/** What a public page knows about the visiting browser; who is signed in, only `PageDoor` and the management API know. */
interface BrowserVisit {
  /** Binds forms to this browser and its current session, or to its network. */
  readonly csrf: string;
  /** Somebody is signed in, second factor included if there is one. */
  readonly isSignedIn: boolean;
  /** The person who entered the right password but not yet the second factor. */
  readonly awaitingSecondFactor: BrowserSession | undefined;
}

/**
 * Browser sessions: a cookie with a random value, whose hash is in the database. The value is replaced whenever the
 * browser's rights grow, which prevents session fixation (ASVS 3.2.1).
 */
export class BrowserSessions {
  readonly #dependencies: SessionModuleDependencies;
  readonly #csrfKeys: PurposeKeys;
  readonly #cookie: HostCookie = new HostCookie('signalpost', this);

  constructor(dependencies: SessionModuleDependencies) {
    this.#dependencies = dependencies;
    this.#csrfKeys = dependencies.key.keysFor('csrf');
  }

  /** What a public page may know about the visitor. */
  async visit(request: FastifyRequest, reply: FastifyReply): Promise<BrowserVisit> {
    const { csrf, session } = await this.identify(request, reply);
    return {
      csrf,
      isSignedIn: session?.complete === true,
      awaitingSecondFactor: session?.complete === false ? session : undefined,
    };
  }

  /** Identifies the visitor. A browser without a cookie gets one, so that forms can be bound to it. */
  async identify(
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<{ readonly csrf: string; readonly session: BrowserSession | undefined }> {
    const value = this.#read(request);
    if (value === undefined) {
      const csrf = this.#csrfKeys.signText(bound(this.#setCookie(request, reply), request));
      return { csrf, session: undefined };
    }
    const session = await this.#find(request, value);
    return {
      csrf: this.#csrfKeys.signText(session === undefined ? bound(value, request) : value),
      session,
    };
  }

  /** The person signed in with the browser that sent a request, second factor included. */
  async findSignedIn(request: FastifyRequest): Promise<BrowserSession | undefined> {
    const value = this.#read(request);
    const found = value === undefined ? undefined : await this.#find(request, value);
    return found?.complete ? found : undefined;
  }

  /** True if the form comes from a page that was served to this browser in its current session. */
  hasValidCsrfToken(request: FastifyRequest, form: Form): boolean {
    const value = this.#read(request);
    const sent = form.get('csrf');
    if (value === undefined || sent === undefined || !this.#isSameOrigin(request)) return false;
    return [value, bound(value, request)].some((text) => this.#csrfKeys.verifyText(text, sent));
  }

  /**
   * Signs the browser in under a new cookie value; the old one becomes useless. Only for people who completed a sign-in,
   * because that counts as confirming who they are.
   * @param provider the sign-in with a provider, if that is how the person signed in
   * @param complete false: the person is yet to verify their second factor
   */
  async signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    personId: PersonId,
    provider?: ProviderSignIn,
    complete = true,
  ): Promise<void> {
    const { database, sessionIdleHours } = this.#dependencies;
    await this.signOut(request);
    await createBrowserSession(database.kysely, {
      hash: hashToken(this.#setCookie(request, reply)),
      personId,
      complete,
      seconds: complete ? sessionIdleHours * 3_600 : secondFactorSeconds,
      remoteAddress: request.ip,
      userAgent: (request.headers['user-agent'] ?? '').slice(0, 300),
      locale: preferredLocale(request),
      provider,
    });
  }

  /**
   * Replaces the cookie value of the session, so a copy of the old one gains nothing (ASVS 3.2.1).
   * @param isConfirmed the signed-in person confirmed who they are; otherwise, the session stays what it was
   */
  async renew(request: FastifyRequest, reply: FastifyReply, isConfirmed: boolean): Promise<void> {
    const value = this.#read(request);
    if (value === undefined) return;
    const newHash = hashToken(this.#setCookie(request, reply));
    await renewBrowserSession(
      this.#dependencies.database.kysely,
      hashToken(value),
      newHash,
      isConfirmed,
    );
  }

  /** Ends the browser's session. The cookie stays as an anonymous one, so that forms keep working. */
  async signOut(request: FastifyRequest): Promise<void> {
    const value = this.#read(request);
    if (value !== undefined)
      await endBrowserSession(this.#dependencies.database.kysely, hashToken(value));
  }

  /** True if the browser reaches the service by TLS. */
  isSecure(request: FastifyRequest): boolean {
    return request.protocol === 'https' || this.#dependencies.publicUrl().startsWith('https:');
  }

  /** Behind a TLS-terminating proxy, browsers send the public URL as their origin. */
  #isSameOrigin(request: FastifyRequest): boolean {
    const { origin, 'sec-fetch-site': site } = request.headers;
    const publicOrigin = new URL(this.#dependencies.publicUrl()).origin;
    return isSameOrigin(request) || (site === undefined && origin === publicOrigin);
  }

  async #find(request: FastifyRequest, value: string): Promise<BrowserSession | undefined> {
    const { kysely } = this.#dependencies.database;
    const hash = hashToken(value);
    const found = await findBrowserSession(kysely, hash);
    if (found?.complete && !found.recentlyUsed)
      await recordSessionUse(kysely, hash, request.ip, this.#dependencies.sessionIdleHours * 3_600);
    return found;
  }

  #read(request: FastifyRequest): string | undefined {
    const value = this.#cookie.read(request);
    return cookieValue.test(value) ? value : undefined;
  }

  #setCookie(request: FastifyRequest, reply: FastifyReply): string {
    const value = randomBytes(32).toString('base64url');
    this.#cookie.set(request, reply, value);
    return value;
  }
}

/** What the forms of a stranger are bound to: otherwise one page would do for guesses from every network. */
function bound(value: string, request: FastifyRequest): string {
  return `${value} ${networksOf(request.ip).at(-1)}`;
}
