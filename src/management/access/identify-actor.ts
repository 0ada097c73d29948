import type { FastifyRequest } from 'fastify';
import type { Principal } from '../../access/principal.ts';
import { isSameOrigin } from '../../http/same-origin.ts';
import { principalOf } from '../../session/browser/browser-session-store.ts';
import { Problem } from '../answer/problem.ts';
import type { ManagementDependencies } from '../management-dependencies.ts';

const safeMethods = new Set(['GET', 'HEAD']);

/** Pages of other origins can't send this header without a CORS preflight (Fetch standard). */
export const consoleHeader = 'x-signalpost-request';

/**
 * Identifies the caller by the `Authorization` header, or else by the session cookie.
 * @returns undefined for an unauthenticated caller
 * @throws Problem for a change that may be a cross-site request
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
  return principalOf(person);
}

/** Browsers attach the cookie to cross-site requests too (ASVS 4.2.2). */
function requireSameOriginPage(request: FastifyRequest): void {
  if (isSameOrigin(request) && request.headers[consoleHeader] !== undefined) return;
  throw new Problem(
    'foreign-request',
    'Changes authenticated by cookie require the X-Signalpost-Request header and the same origin',
  );
}
