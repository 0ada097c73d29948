import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

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
