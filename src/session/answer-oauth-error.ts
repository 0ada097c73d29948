import type { FastifyReply, FastifyRequest } from 'fastify';
import { codeOf, isUnavailable } from '../foundation/database/sqlstate.ts';
import { BodyRefusal } from '../http/limits/body-refusal.ts';
import { InvalidRequest, OAuthError, ServerError, TemporarilyUnavailable } from './oauth-errors.ts';

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
