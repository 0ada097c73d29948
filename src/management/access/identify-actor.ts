import type { FastifyRequest } from 'fastify';
import type { Principal } from '../../access/principal.ts';
import { isSameOrigin } from '../../http/same-origin.ts';
import { Problem } from '../answer/problem.ts';
import type { ManagementDependencies } from '../management-dependencies.ts';

const safeMethods = new Set(['GET', 'HEAD']);

/** A header that only a page of the same origin can send without the browser asking first (Fetch, CORS preflight). */
export const consoleHeader = 'x-signalpost-request';

/**
 * Identifies the caller by the `Authorization` header, or else by the session cookie.
 * @returns undefined for an unauthenticated caller
 * @throws Problem for a change that another site's page may have sent
 */
export async function identifyActor(
  dependencies: ManagementDependencies,
  request: FastifyRequest,
): Promise<Principal | undefined> {
  const { authorization } = request.headers;
  if (authorization !== undefined)
    return dependencies.access.authenticator.authenticate(authorization);
  const person = await dependencies.browser.findSignedIn(request);
  if (person === undefined) return undefined;
  if (!safeMethods.has(request.method)) requireSameOriginPage(request);
  return { kind: 'person', personId: person.personId };
}

/** Browsers send the cookie with requests from any page (ASVS 4.2.2). */
function requireSameOriginPage(request: FastifyRequest): void {
  if (isSameOrigin(request) && request.headers[consoleHeader] !== undefined) return;
  throw new Problem(
    'foreign-request',
    'Changes authenticated by cookie require the X-Signalpost-Request header and the same origin',
  );
}
