import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Http } from '../http/create-http.ts';
import { isSameOrigin, isSameOriginOrVisit } from '../http/same-origin.ts';
import type { AnswerProblem } from './answer-problem.ts';

/** Checks a caller: allowed, not authenticated, or authenticated without access to all mail. */
export type CheckInboxAccess = (
  request: FastifyRequest,
) => Promise<'open' | 'unknown' | 'forbidden'>;

const safeMethods = new Set(['GET', 'HEAD']);

/**
 * Admits only callers who may see password reset links, and no requests that another site's page makes on their behalf.
 * Anonymous callers get a 401 with instructions.
 */
export function guardInbox(
  http: Http,
  checkAccess: CheckInboxAccess,
  answerProblem: AnswerProblem,
): void {
  http.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'inbox' };
  });
  http.addHook('onRequest', async (request, reply) => {
    setSecurityHeaders(reply);
    const access = await checkAccess(request);
    if (access === 'unknown') {
      const message =
        'Send the service’s INBOX_TOKEN as a Bearer token. If you didn’t set one, it’s in demo.env in the data folder.';
      return answerProblem(request, reply, { status: 401, message });
    }
    if (access === 'forbidden') {
      return answerProblem(request, reply, {
        status: 403,
        message:
          'This inbox also contains the service’s own mail, such as password links, so only operators can open it. If you’re an owner or developer in every account, you can see the rest in the console.',
      });
    }
    const isAllowed = safeMethods.has(request.method)
      ? isSameOriginOrVisit(request)
      : isSameOrigin(request);
    if (!isAllowed) {
      return answerProblem(request, reply, {
        status: 403,
        message: 'Requests from other sites aren’t allowed.',
      });
    }
    return undefined;
  });
}

/** Sets the header fields of every inbox response; pages also set a Content-Security-Policy. */
export function setSecurityHeaders(reply: FastifyReply): void {
  reply.headers({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  });
}
