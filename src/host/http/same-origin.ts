import type { FastifyRequest } from 'fastify';

/**
 * True if the request can't come from another site's page, so it may change data. Browsers announce the origin of a
 * request (`Sec-Fetch-Site`, W3C Fetch Metadata; `Origin`, RFC 6454 section 7); other programs send neither. A page
 * of the same site but another origin (another port) counts as foreign.
 */
export function isSameOrigin(request: FastifyRequest): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = request.headers;
  if (origin === undefined) return true;
  const own = URL.parse(`${request.protocol}://${request.host}`);
  return own !== null && URL.parse(origin)?.origin === own.origin;
}

/**
 * True if reading is allowed: same origin, a person who follows a link or types the URL, or a program that isn't a
 * browser. False for what another site's page embeds.
 */
export function isSameOriginOrVisit(request: FastifyRequest): boolean {
  if (isSameOrigin(request)) return true;
  const { headers } = request;
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}
