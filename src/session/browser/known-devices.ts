import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../foundation/clock.ts';
import type { MasterKey } from '../../foundation/master-key.ts';
import type { PurposeKeys } from '../../foundation/purpose-keys.ts';
import type { BrowserSessions } from './browser-sessions.ts';

const deviceCookieDays = 180;
const valuePattern = /^(\d{1,15})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

export interface KnownDevicesDependencies {
  readonly browser: Pick<BrowserSessions, 'isSecure'>;
  readonly key: MasterKey;
  readonly clock: Clock;
}

/**
 * Remembers in a signed cookie that a person has signed in with a browser before (OWASP: device cookies). It grants
 * no access: wrong passwords from it are counted separately, so that an attacker's flood doesn't slow the person
 * down.
 */
export class KnownDevices {
  readonly #dependencies: KnownDevicesDependencies;
  readonly #keys: PurposeKeys;

  constructor(dependencies: KnownDevicesDependencies) {
    this.#dependencies = dependencies;
    this.#keys = dependencies.key.keysFor('known device');
  }

  /** Identifies the browser if this person signed in with it before. */
  read(request: FastifyRequest, email: string): string | undefined {
    const value = parseCookie(request.headers.cookie ?? '')[this.#cookieName(request)] ?? '';
    const [, issued = '', name = '', sent = ''] = valuePattern.exec(value) ?? [];
    if (Number(issued) < this.#dependencies.clock.now() - deviceCookieDays * 86_400_000)
      return undefined;
    const given = Buffer.from(sent);
    const isValid = this.#keys.some((key) => {
      const expected = Buffer.from(sign(key, issued, name, email));
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
    return isValid ? name : undefined;
  }

  /** Records that the person has signed in. */
  remember(request: FastifyRequest, reply: FastifyReply, email: string): void {
    const issued = String(Math.floor(this.#dependencies.clock.now()));
    const name = this.read(request, email) ?? randomBytes(16).toString('base64url');
    const cookie = stringifySetCookie({
      name: this.#cookieName(request),
      value: `${issued}.${name}.${sign(this.#keys.current, issued, name, email)}`,
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      maxAge: deviceCookieDays * 86_400,
      secure: this.#dependencies.browser.isSecure(request),
    });
    const others = [reply.getHeader('set-cookie') ?? []].flat().map(String);
    reply.removeHeader('set-cookie').header('set-cookie', [...others, cookie]);
  }

  #cookieName(request: FastifyRequest): string {
    return this.#dependencies.browser.isSecure(request)
      ? '__Host-signalpost-device'
      : 'signalpost-device';
  }
}

function sign(key: KeyObject, issued: string, name: string, email: string): string {
  const text = [issued, name, email.toLowerCase()].join('\0');
  return createHmac('sha256', key).update(text).digest('base64url');
}
