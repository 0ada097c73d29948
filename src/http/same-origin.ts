import type { FastifyRequest } from 'fastify';

/**
 * True where no other site's page can have sent the request, so that it may change something. Browsers say where a
 * request comes from (`Sec-Fetch-Site`, W3C Fetch Metadata; `Origin`, RFC 6454 section 7); programs that are no
 * browser send neither. A page of the same site but of another origin (another port) is foreign too.
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
 * True where reading is allowed: the same origin, a person who follows a link or types the address, and programs
 * that are no browser; not what another site's page loads into itself.
 */
export function isSameOriginOrVisit(request: FastifyRequest): boolean {
  if (isSameOrigin(request)) return true;
  const { headers } = request;
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}
