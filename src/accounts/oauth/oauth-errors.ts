import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { codeOf, isUnavailable } from '../../base/database/sqlstate.ts';
import type { Http } from '../../host/http/create-http.ts';
import { BodyRefusal } from '../../host/http/limits/body-traffic.ts';
import { skipBody } from '../../host/http/read-body.ts';

/** The HTTP status of each `error` code. */
const statuses = {
  /**
   * RFC 6749 section 5.2: the request lacks a required parameter, has an unsupported parameter value, repeats a
   * parameter, includes multiple credentials, or is otherwise malformed.
   */
  invalid_request: 400,
  /** RFC 6749 section 5.2: client authentication failed: unknown client, none included, or unsupported method. */
  invalid_client: 401,
  /**
   * RFC 6749 section 5.2: the grant (code, user credentials) or refresh token is invalid, expired or revoked, does not
   * match the redirect URL, or was issued to another client. Has no challenge.
   */
  invalid_grant: 400,
  /** RFC 6749 section 5.2: the authenticated client may not use this grant. */
  unauthorized_client: 400,
  /** RFC 6749 section 5.2: the grant type is not supported by this server. */
  unsupported_grant_type: 400,
  /** RFC 6749 section 5.2: the scope is unknown; the only one is `PRODUCTION`. */
  invalid_scope: 400,
  /** Contract section 8: the allowance of initial token requests is used up. The code comes from RFC 8628 section 3.5. */
  slow_down: 429,
  /** Too many passwords are waiting to be checked, or the database is unavailable (RFC 6749 section 4.1.2.1). */
  temporarily_unavailable: 503,
  /** An internal error (RFC 6749 section 4.1.2.1). */
  server_error: 500,
} as const;

interface OAuthErrorOptions extends ErrorOptions {
  /** The WWW-Authenticate header of the response. */
  readonly challenge?: string | undefined;
}

/**
 * An error of the token endpoint or a related one. `message` is the public `error_description` (RFC 6749 section 5.2
 * allows printable ASCII without `"` and `\`); details that must stay private go into `cause`.
 */
export class OAuthError extends Error {
  override readonly name: string = 'OAuthError';
  readonly error: keyof typeof statuses;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined = undefined;
  readonly challenge: string | undefined;

  constructor(error: keyof typeof statuses, message: string, options: OAuthErrorOptions = {}) {
    super(message, options);
    this.error = error;
    this.challenge = options.challenge;
  }

  get status(): number {
    return statuses[this.error];
  }
}

export class SlowDown extends OAuthError {
  override readonly name = 'SlowDown';
  override readonly retryAfter: number;

  constructor(message: string, retryAfter: number) {
    super('slow_down', message);
    this.retryAfter = retryAfter;
  }
}

export class TemporarilyUnavailable extends OAuthError {
  override readonly name = 'TemporarilyUnavailable';
  override readonly retryAfter = 1;

  constructor(message: string, options?: ErrorOptions) {
    super('temporarily_unavailable', message, options);
  }
}

/** Sends an error as RFC 6749 section 5.2 specifies: JSON with `error` and `error_description`, never cached. */
export function answerOAuthError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refusal = toOAuthError(error);
  if (refusal.status >= 500)
    request.log.error({ err: refusal.cause ?? refusal, requestId: request.id }, refusal.message);
  else
    request.log.debug(
      { error: refusal.error, cause: refusal.cause, requestId: request.id },
      'token request refused',
    );
  if (refusal.retryAfter !== undefined) reply.header('retry-after', refusal.retryAfter);
  if (refusal.challenge !== undefined) reply.header('www-authenticate', refusal.challenge);
  return preventCaching(reply)
    .code(refusal.status)
    .send({ error: refusal.error, error_description: refusal.message });
}

/** RFC 6749 section 5.1: responses with or about tokens must not be cached. */
export function preventCaching(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').header('pragma', 'no-cache');
}

function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  if (isUnavailable(error))
    return new TemporarilyUnavailable('The service is temporarily unavailable; try again shortly', {
      cause: error,
    });
  if (error instanceof BodyRefusal) return fromRefusal(error);
  switch (codeOf(error)) {
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new OAuthError(
        'invalid_request',
        'The body must be application/x-www-form-urlencoded',
        {
          cause: error,
        },
      );
    default:
      return new OAuthError('server_error', 'The request failed because of an internal error', {
        cause: error,
      });
  }
}

/** The token endpoint responds to an unreadable form with 400, whatever the reason (RFC 6749 section 5.2). */
function fromRefusal(refusal: BodyRefusal): OAuthError {
  const { message, retryAfter } = refusal;
  // Not 429: clients associate that with the allowance and would wait for an hour.
  return retryAfter !== undefined
    ? new TemporarilyUnavailable(message, { cause: refusal })
    : new OAuthError('invalid_request', message, { cause: refusal });
}

const others: HTTPMethods[] = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Responds to everything but POST on an OAuth endpoint with 405 and `Allow`, as an OAuth error. */
export function refuseOtherMethods(http: Http, url: string, name: string): void {
  http.route({
    method: others,
    url,
    config: { refusesAll: true },
    onRequest: (request, reply) => {
      skipBody(request, reply);
      preventCaching(reply)
        .code(405)
        .header('allow', 'POST')
        .send({
          error: 'invalid_request',
          error_description: `The ${name} endpoint requires POST`,
        });
    },
    handler: () => undefined,
  });
}
