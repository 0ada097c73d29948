import { isPublicId } from '../../base/values/ids.ts';
import { hasTooManyParameters } from '../sign-in/form.ts';
import type { FindIntegration, StoredIntegration } from './integration-store.ts';
import { supportedScope } from './token-routes.ts';

/** `http://127.0.0.1` or `http://[::1]` with optional port, path and query. */
const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::\d{1,5})?((?:[/?].*)?)$/s;

/**
 * True if the redirect URL of a request matches the registered one exactly. Only the port of a registered loopback
 * address may differ, since native apps listen on any free port (RFC 8252 section 7.3).
 */
export function isRegisteredRedirect(sent: string, registered: string): boolean {
  if (sent === registered) return true;
  const [theirs, ours] = [loopback.exec(sent), loopback.exec(registered)];
  const fits = theirs !== null && ours !== null && theirs[1] === ours[1] && theirs[2] === ours[2];
  return fits && URL.canParse(sent);
}

/**
 * Adds parameters to the query of a redirect URL (RFC 6749 section 4.1.2); the result is valid in a Location header.
 */
export function withParameters(
  redirectUri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.append(name, value);
  const separator = redirectUri.includes('?') ? '&' : '?';
  return `${redirectUri.replace(/[^\x21-\x7e]/gu, encodeURIComponent)}${separator}${query}`;
}

/**
 * The source expression for a redirect's target in the form-action of a Content-Security-Policy: its origin, or its
 * scheme if it has no valid origin there (custom schemes; IPv6 addresses, which the policy's grammar lacks).
 */
export function formActionSource(redirectUri: string): string {
  const url = new URL(redirectUri);
  const hasOrigin = url.protocol === 'http:' || url.protocol === 'https:';
  return hasOrigin && !url.hostname.startsWith('[') ? url.origin : url.protocol;
}

/**
 * An authorization request with an unknown integration or wrong redirect URL. Shown as a page, because redirecting
 * would make the service an open redirector (RFC 6749 section 4.1.2.1, RFC 9700 section 4.11).
 */
export class UnusableRequest extends Error {
  override name = 'UnusableRequest';
}

/** Error codes of an authorization response (RFC 6749 section 4.1.2.1). */
type AuthorizationErrorCode =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope';

/** Where to send the response to an authorization request. */
export interface ResponseTarget {
  readonly redirectUri: string;
  /** Returned unchanged if it was sent. */
  readonly state: string | undefined;
}

/** An error that is reported to the integration by redirect (RFC 6749 section 4.1.2.1). */
export class AuthorizationRefused extends Error {
  override name = 'AuthorizationRefused';
  readonly error: AuthorizationErrorCode;
  readonly target: ResponseTarget;

  constructor(error: AuthorizationErrorCode, description: string, target: ResponseTarget) {
    super(description);
    this.error = error;
    this.target = target;
  }
}

/** A valid request to the authorization endpoint (contract section 4.2, RFC 7636 section 4.3). */
export interface AuthorizationRequest extends ResponseTarget {
  readonly client: StoredIntegration;
  /** Whether the request contained the redirect URL; if so, the token request must too (RFC 6749 section 4.1.3). */
  readonly redirectUriSent: boolean;
  /** S256 challenge, or null without PKCE. */
  readonly codeChallenge: string | null;
}

/** The parameters of a query, with case-insensitive names. */
class Query {
  readonly #pairs: ReadonlyMap<string, readonly (readonly [string, string])[]>;

  constructor(text: string) {
    this.#pairs = Map.groupBy(new URLSearchParams(text), ([name]) => name.toLowerCase());
  }

  /** The value, or undefined if it is missing or empty. */
  get(name: string): string | undefined {
    return this.#pairs.get(name)?.[0]?.[1] || undefined;
  }

  isRepeated(name: string): boolean {
    return (this.#pairs.get(name)?.length ?? 0) > 1;
  }

  /** A repeated parameter, or undefined. */
  get firstRepeated(): string | undefined {
    return [...this.#pairs].find(([, pairs]) => pairs.length > 1)?.[0];
  }
}

/** SHA-256 in base64url without padding (RFC 7636 section 4.2). */
const challengePattern = /^[A-Za-z0-9_-]{43}$/;

/**
 * Parses the query of an authorization request. Client and redirect URL come first: until both are valid, errors are
 * shown to the person instead of redirecting.
 * @throws UnusableRequest, AuthorizationRefused
 */
export async function readAuthorizationRequest(
  text: string,
  findIntegration: FindIntegration,
): Promise<AuthorizationRequest> {
  const query = new Query(requireReadable(text));
  const client = await readClient(query, findIntegration);
  const redirectUriSent = query.get('redirect_uri') !== undefined;
  const target = { redirectUri: readRedirect(query, client), state: query.get('state') };
  refuseRepeated(query, target);
  requireResponseType(query, target);
  requireScope(query, target);
  requireCodeGrant(client, target);
  const codeChallenge = readChallenge(query, client, target);
  return { ...target, client, redirectUriSent, codeChallenge };
}

function requireReadable(text: string): string {
  if (hasTooManyParameters(text))
    throw new UnusableRequest('The URL of this page has too many parameters.');
  try {
    const decoded = decodeURIComponent(text);
    if (!decoded.includes('\0')) return text;
  } catch {
    // Rejected below.
  }
  throw new UnusableRequest('The URL of this page isn’t encoded correctly.');
}

async function readClient(
  query: Query,
  findIntegration: FindIntegration,
): Promise<StoredIntegration> {
  const clientId = query.get('client_id');
  if (clientId === undefined || query.isRepeated('client_id'))
    throw new UnusableRequest(
      'The link doesn’t name an integration: client_id is missing or repeated.',
    );
  const client = isPublicId(clientId) ? await findIntegration(clientId) : undefined;
  if (client === undefined || client.disabled)
    throw new UnusableRequest(
      `No OAuth app has the client ID “${clientId.slice(0, 64)}”, or it’s disabled.`,
    );
  return client;
}

function readRedirect(query: Query, client: StoredIntegration): string {
  const sent = query.get('redirect_uri');
  if (query.isRepeated('redirect_uri'))
    throw new UnusableRequest('The link has more than one redirect_uri.');
  if (sent && !isRegisteredRedirect(sent, client.redirectUri))
    throw new UnusableRequest(
      `The redirect URL “${sent.slice(0, 500).toWellFormed()}” isn’t registered for this integration.`,
    );
  return sent ?? client.redirectUri;
}

/** RFC 6749 section 3.1: parameters must not be repeated. */
function refuseRepeated(query: Query, target: ResponseTarget): void {
  if (query.firstRepeated === undefined) return;
  const state = query.isRepeated('state') ? undefined : target.state;
  const returnTarget = { ...target, state };
  throw new AuthorizationRefused('invalid_request', 'A parameter is repeated', returnTarget);
}

function requireResponseType(query: Query, target: ResponseTarget): void {
  const type = query.get('response_type');
  if (type === undefined)
    throw new AuthorizationRefused('invalid_request', 'response_type is missing', target);
  if (type !== 'code')
    throw new AuthorizationRefused(
      'unsupported_response_type',
      'response_type must be code',
      target,
    );
}

function requireScope(query: Query, target: ResponseTarget): void {
  if (query.get('scope') !== supportedScope)
    throw new AuthorizationRefused('invalid_scope', `scope must be ${supportedScope}`, target);
}

function requireCodeGrant(client: StoredIntegration, target: ResponseTarget): void {
  if (!client.grants.has('authorization_code'))
    throw new AuthorizationRefused(
      'unauthorized_client',
      'This integration is not registered for the code grant',
      target,
    );
}

/** RFC 7636 section 4.4.1: without a method, the challenge would be the plain verifier, which is not accepted. */
function readChallenge(
  query: Query,
  client: StoredIntegration,
  target: ResponseTarget,
): string | null {
  const refuse = (description: string): never => {
    throw new AuthorizationRefused('invalid_request', description, target);
  };
  const sent = query.get('code_challenge');
  const method = query.get('code_challenge_method');
  if (sent === undefined) {
    if (method !== undefined) refuse('code_challenge is missing');
    if (client.requirePkce) refuse('This integration must use PKCE: code_challenge is missing');
    return null;
  }
  if (method !== 'S256') refuse('code_challenge_method must be S256');
  if (!challengePattern.test(sent)) refuse('code_challenge is not a base64url SHA-256');
  return sent;
}
