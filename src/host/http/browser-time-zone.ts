import { parseCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';

/** The cookie in which a page with a script stores the browser's time zone for pages without one. */
const timeZoneCookie = 'signalpost_zone';

/** The time zone of the browser; `UTC` until a page of the console has stored it. */
export function browserTimeZone(request: FastifyRequest): string {
  const zone = parseCookie(request.headers.cookie ?? '')[timeZoneCookie];
  if (zone === undefined || !/^[A-Za-z0-9_+/-]{1,64}$/.test(zone)) return 'UTC';
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}
