import type { FastifyReply, FastifyRequest } from 'fastify';
import { AccountLimitReached } from '../account/account-limit-store.ts';
import { codeOf, isUnavailable } from '../foundation/database/sqlstate.ts';
import { BodyRefusal } from '../http/limits/body-refusal.ts';
import { OAuthError } from './oauth-errors.ts';
import { sendPage } from './pages/layout.ts';
import { messagePage } from './pages/message-page.ts';

/** Errors of the HTTP server itself, by code; forms in a browser never cause them. */
const serverRefusals: Readonly<Record<string, readonly [status: number, text: string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    415,
    'Unsupported content type. Send the body as application/x-www-form-urlencoded.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, 'The body length doesn’t match Content-Length.'],
};

/** Responds to an error of a page with a page that says what to do and reveals no internals. */
export function answerPageError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (error instanceof OAuthError && error.status < 500) {
    if (error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter);
    return sendPage(reply, messagePage('Request failed', `${error.message}.`, error.status));
  }
  if (error instanceof BodyRefusal) {
    if (error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter);
    return sendPage(reply, messagePage('Request failed', `${error.message}.`, error.statusCode));
  }
  if (error instanceof AccountLimitReached)
    return sendPage(reply, messagePage('Request failed', `${error.message}.`, 409));
  const refused = serverRefusals[codeOf(error) ?? ''];
  if (refused !== undefined)
    return sendPage(reply, messagePage('Request failed', refused[1], refused[0]));
  request.log.error({ err: error, requestId: request.id }, 'page failed');
  if (isUnavailable(error) || error instanceof OAuthError) {
    reply.header('retry-after', 1);
    const text = 'The service is temporarily unavailable. Try again in a moment.';
    return sendPage(reply, messagePage('Try again', text, 503));
  }
  const text = `An internal error occurred. If it happens again, give your operator this request ID: ${request.id}.`;
  return sendPage(reply, messagePage('Something went wrong', text, 500));
}
