import type { FastifyReply, FastifyRequest } from 'fastify';
import { codeOf, isUnavailable } from '../base/database/sqlstate.ts';
import type { Http } from '../host/http/create-http.ts';
import { BodyRefusal } from '../host/http/limits/body-traffic.ts';
import { AccountLimitReached } from './account/account-limit-store.ts';
import { OAuthError } from './oauth/oauth-errors.ts';
import { acceptForms } from './sign-in/form.ts';
import { messagePage, sendPage } from './sign-in/pages/layout.ts';
import { copyScript, passkeyScript, passwordScript } from './sign-in/pages/page-script.ts';

/** Registers a scope for pages: it parses forms, turns errors into pages and serves their script. */
export function registerPages(http: Http, register: (scope: Http) => void): void {
  http.register(async (scope) => {
    acceptForms(scope);
    scope.setErrorHandler(answerPageError);
    for (const script of [passkeyScript, passwordScript, copyScript])
      scope.get(script.path, async (request, reply) => {
        reply
          .type('text/javascript; charset=utf-8')
          .header('cache-control', 'public, max-age=31536000, immutable')
          .header('x-content-type-options', 'nosniff');
        return script.content.send(request, reply);
      });
    register(scope);
  });
}

/** Errors of the HTTP server itself, by code; forms in a browser never cause them. */
const serverRefusals: Readonly<Record<string, readonly [status: number, text: string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    415,
    'Unsupported content type. Send the body as application/x-www-form-urlencoded.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, 'The body length doesn’t match Content-Length.'],
};

/** Responds to an error of a page with a page that says what to do and reveals no internals. */
function answerPageError(
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
