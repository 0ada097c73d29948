import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Http } from '../http/create-http.ts';
import { isSameOrigin, isSameOriginOrVisit } from '../http/same-origin.ts';
import type { AnswerProblem } from './answer-problem.ts';

/** What a caller finds: let in, not known, or known without the right to see all mail. */
export type CheckInboxAccess = (
  request: FastifyRequest,
) => Promise<'open' | 'unknown' | 'forbidden'>;

const safeMethods = new Set(['GET', 'HEAD']);

/**
 * Lets only those in who may see password resets, wherever they come from; and never a page of another site on their
 * behalf. Strangers get a 401 that says how to get in.
 */
export function guardInbox(
  http: Http,
  checkAccess: CheckInboxAccess,
  answerProblem: AnswerProblem,
): void {
  http.addHook('onRequest', async (request, reply) => {
    setSecurityHeaders(reply);
    const found = await checkAccess(request);
    if (found === 'unknown') {
      const message =
        'Send the service’s INBOX_TOKEN as a Bearer token. If you didn’t set one, it’s in demo.env in the data folder.';
      return answerProblem(request, reply, { status: 401, message });
    }
    if (found === 'forbidden') {
      return answerProblem(request, reply, {
        status: 403,
        message:
          'This inbox also contains the service’s own mail, such as password links, so only operators can open it. If you’re an owner or developer in every account, you can see the rest in the console.',
      });
    }
    const own = safeMethods.has(request.method)
      ? isSameOriginOrVisit(request)
      : isSameOrigin(request);
    if (!own) {
      return answerProblem(request, reply, {
        status: 403,
        message: 'Requests from other sites aren’t allowed.',
      });
    }
    return undefined;
  });
}

/** Header fields of every answer of the inbox; pages add their Content-Security-Policy. */
export function setSecurityHeaders(reply: FastifyReply): void {
  reply.headers({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  });
}
