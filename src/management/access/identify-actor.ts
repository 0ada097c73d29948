import type { FastifyRequest } from 'fastify';
import type { Principal } from '../../access/principal.ts';
import { isSameOrigin } from '../../http/same-origin.ts';
import { Problem } from '../answer/problem.ts';
import type { ManagementDependencies } from '../management-dependencies.ts';

const safeMethods = new Set(['GET', 'HEAD']);

/** A header that only a page of the same origin can send without the browser asking first (Fetch, CORS preflight). */
export const consoleHeader = 'x-signalpost-request';

/**
 * Who calls: by what `Authorization` carries, else by the cookie of a signed-in browser.
 * @returns undefined for a stranger
 * @throws Problem where another site's page may have sent a request that would change something
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

/** A cookie comes along with whatever page made the browser send the request (ASVS 4.2.2). */
function requireSameOriginPage(request: FastifyRequest): void {
  if (isSameOrigin(request) && request.headers[consoleHeader] !== undefined) return;
  throw new Problem(
    'foreign-request',
    'A change that is authenticated by cookie needs the header X-Signalpost-Request and the same origin',
  );
}
