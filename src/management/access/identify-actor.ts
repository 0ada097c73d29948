import type { FastifyRequest } from 'fastify';
import { isSameOrigin } from '../../http/same-origin.ts';
import { Problem } from '../answer/problem.ts';
import type { ManagementParts } from '../management-parts.ts';
import type { Actor } from './actor.ts';
import type { ReadApiKey } from './api-key.ts';
import { findApiKey, rehashApiKey } from './api-key-store.ts';
import type { Permission } from './permission.ts';

const safeMethods = new Set(['GET', 'HEAD']);

const bearer = /^bearer +([^\s]+) *$/i;

/** A header that only a page of the same origin can send without the browser asking first (Fetch, CORS preflight). */
export const consoleHeader = 'x-signalpost-request';

/**
 * Who calls: by an access token or API key in `Authorization`, else by the cookie of a signed-in browser.
 * @returns undefined for a stranger
 * @throws Problem where another site's page may have sent a request that would change something
 */
export async function identifyActor(
  parts: ManagementParts,
  request: FastifyRequest,
): Promise<Actor | undefined> {
  const { authorization } = request.headers;
  if (authorization !== undefined) return identifyBearer(parts, authorization);
  const person = await parts.browser.personOf(request);
  if (person === undefined) return undefined;
  if (!safeMethods.has(request.method)) requireOwnPage(request);
  return { kind: 'person', personId: person.personId, clientId: undefined, boundTo: undefined };
}

async function identifyBearer(
  parts: ManagementParts,
  authorization: string,
): Promise<Actor | undefined> {
  const text = bearer.exec(authorization)?.[1];
  if (text === undefined) return undefined;
  const key = parts.apiKeys.read(text);
  if (key !== undefined) {
    const found = await findKey(parts, key);
    if (found === undefined) return undefined;
    const scopes = new Set<Permission>(found.scopes);
    return { kind: 'key', keyId: found.id, accountId: key.accountId, scopes };
  }
  const caller = await parts.tokens.authenticate(authorization);
  if (caller === undefined) return undefined;
  const { personId, clientId, accountId } = caller;
  return { kind: 'person', personId, clientId, boundTo: accountId };
}

/** Stored hashes are made anew with the current master key as keys are used. */
async function findKey({ database, clock }: ManagementParts, key: ReadApiKey) {
  const { kysely } = database;
  const found = await findApiKey(kysely, key.accountId, key.hash, clock.offset);
  if (found !== undefined) return found;
  for (const older of key.olderHashes) {
    if (await rehashApiKey(kysely, key.accountId, older, key.hash))
      return findApiKey(kysely, key.accountId, key.hash, clock.offset);
  }
  return undefined;
}

/** A cookie comes along with whatever page made the browser send the request (ASVS 4.2.2). */
function requireOwnPage(request: FastifyRequest): void {
  if (isSameOrigin(request) && request.headers[consoleHeader] !== undefined) return;
  throw new Problem(
    'foreign-request',
    'A change that is authenticated by cookie needs the header X-Signalpost-Request and the same origin',
  );
}
