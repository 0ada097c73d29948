import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Http } from '../http/create-http.ts';
import { isSameOrigin, isSameOriginOrVisit } from '../http/same-origin.ts';
import type { AnswerProblem } from './answer-problem.ts';

/** The result of an access check: allowed, not authenticated, or authenticated without the right to see all mail. */
export type CheckInboxAccess = (
  request: FastifyRequest,
) => Promise<'open' | 'unknown' | 'forbidden'>;

const safeMethods = new Set(['GET', 'HEAD']);

/**
 * Lets in only those who may see password resets, and never a request from another site's page. Unauthenticated
 * callers get a 401 with instructions.
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
        "Send INBOX_TOKEN as Bearer token. If it isn't set, the token is in demo.env in the data folder.";
      return answerProblem(request, reply, { status: 401, message });
    }
    if (found === 'forbidden') {
      return answerProblem(request, reply, {
        status: 403,
        message:
          'The inbox contains system mail too, such as password links, so only operators can see it here. Owners and developers of every account can see all other mail in the console.',
      });
    }
    const own = safeMethods.has(request.method)
      ? isSameOriginOrVisit(request)
      : isSameOrigin(request);
    if (!own) {
      return answerProblem(request, reply, {
        status: 403,
        message: "Pages of other sites can't use the inbox.",
      });
    }
    return undefined;
  });
}

/** Header fields of every inbox response; pages add their Content-Security-Policy. */
export function setSecurityHeaders(reply: FastifyReply): void {
  reply.headers({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  });
}
