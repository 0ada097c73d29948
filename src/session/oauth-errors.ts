import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { codeOf, isUnavailable } from '../foundation/database/sqlstate.ts';
import type { Http } from '../http/create-http.ts';
import { BodyRefusal } from '../http/limits/body-traffic.ts';
import { skipBody } from '../http/read-body.ts';

/**
 * Errors of the token endpoint and related ones: one class per `error` code. `message` is the public
 * `error_description` (RFC 6749 section 5.2 allows printable ASCII without `"` and `\`); details that must stay
 * private go into `cause`.
 */
export abstract class OAuthError extends Error {
  abstract readonly status: number;
  abstract readonly error: string;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined = undefined;
  /** The WWW-Authenticate header of the response. */
  readonly challenge: string | undefined = undefined;
}

/**
 * RFC 6749 section 5.2: the request lacks a required parameter, has an unsupported parameter value, repeats a
 * parameter, includes multiple credentials, or is otherwise malformed.
 */
export class InvalidRequest extends OAuthError {
  override readonly name = 'InvalidRequest';
  readonly status = 400;
  readonly error = 'invalid_request';
}

/**
 * RFC 6749 section 5.2: client authentication failed: unknown client, none included, or unsupported method. Only a
 * client that used the Authorization header gets a challenge, because some clients ignore the body of a challenge.
 */
export class InvalidClient extends OAuthError {
  override readonly name = 'InvalidClient';
  readonly status = 401;
  readonly error = 'invalid_client';
  override readonly challenge: string | undefined;

  constructor(message: string, byHeader: boolean, options?: ErrorOptions) {
    super(message, options);
    this.challenge = byHeader ? 'Basic realm="signalpost", charset="UTF-8"' : undefined;
  }
}

/**
 * RFC 6749 section 5.2: the grant (code, user credentials) or refresh token is invalid, expired or revoked, does not
 * match the redirect URL, or was issued to another client. Has no challenge.
 */
export class InvalidGrant extends OAuthError {
  override readonly name = 'InvalidGrant';
  readonly status = 400;
  readonly error = 'invalid_grant';
}

/** RFC 6749 section 5.2: the authenticated client may not use this grant. */
export class UnauthorizedClient extends OAuthError {
  override readonly name = 'UnauthorizedClient';
  readonly status = 400;
  readonly error = 'unauthorized_client';
}

/** RFC 6749 section 5.2: the grant type is not supported by this server. */
export class UnsupportedGrantType extends OAuthError {
  override readonly name = 'UnsupportedGrantType';
  readonly status = 400;
  readonly error = 'unsupported_grant_type';
}

/** RFC 6749 section 5.2: the scope is unknown; the only one is `PRODUCTION`. */
export class InvalidScope extends OAuthError {
  override readonly name = 'InvalidScope';
  readonly status = 400;
  readonly error = 'invalid_scope';
}

/** Contract section 8: the allowance of initial token requests is used up. The code comes from RFC 8628 section 3.5. */
export class SlowDown extends OAuthError {
  override readonly name = 'SlowDown';
  readonly status = 429;
  readonly error = 'slow_down';
  override readonly retryAfter: number;

  constructor(message: string, retryAfter: number) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/** Too many passwords are waiting to be checked, or the database is unavailable (RFC 6749 section 4.1.2.1). */
export class TemporarilyUnavailable extends OAuthError {
  override readonly name = 'TemporarilyUnavailable';
  readonly status = 503;
  readonly error = 'temporarily_unavailable';
  override readonly retryAfter = 1;
}

/** An internal error (RFC 6749 section 4.1.2.1). */
class ServerError extends OAuthError {
  override readonly name = 'ServerError';
  readonly status = 500;
  readonly error = 'server_error';
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
      return new InvalidRequest('The body must be application/x-www-form-urlencoded', {
        cause: error,
      });
    default:
      return new ServerError('The request failed because of an internal error', { cause: error });
  }
}

/** The token endpoint responds to an unreadable form with 400, whatever the reason (RFC 6749 section 5.2). */
function fromRefusal(refusal: BodyRefusal): OAuthError {
  const { message, retryAfter } = refusal;
  // Not 429: clients associate that with the allowance and would wait for an hour.
  return retryAfter !== undefined
    ? new TemporarilyUnavailable(message, { cause: refusal })
    : new InvalidRequest(message, { cause: refusal });
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
