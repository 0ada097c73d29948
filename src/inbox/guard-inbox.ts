import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Http } from '../http/create-http.ts';
import { hasLocalHost, isLoopbackPeer } from '../http/loopback.ts';
import { isSameOrigin, isSameOriginOrVisit } from '../http/same-origin.ts';
import type { AnswerProblem } from './answer-problem.ts';

/** True where the caller is signed in as somebody who may see the mail of all accounts. */
export type MayRead = (request: FastifyRequest) => Promise<boolean>;

const safeMethods = new Set(['GET', 'HEAD']);

/**
 * Lets only those in who may see password resets: this machine, asked by its own name, or a signed-in owner or
 * developer; and never a page of another site on their behalf. Everybody else gets a 403 that says so.
 */
export function guardInbox(http: Http, mayRead: MayRead, answerProblem: AnswerProblem): void {
  http.addHook('onRequest', async (request, reply) => {
    protect(reply);
    const local = isLoopbackPeer(request) && hasLocalHost(request);
    if (!local && !(await mayRead(request))) {
      return answerProblem(request, reply, { status: 403, message: explainRefusal(request) });
    }
    const own = safeMethods.has(request.method)
      ? isSameOriginOrVisit(request)
      : isSameOrigin(request);
    if (!own) {
      return answerProblem(request, reply, {
        status: 403,
        message: 'Pages of other sites cannot use the inbox.',
      });
    }
    return undefined;
  });
}

function explainRefusal(request: FastifyRequest): string {
  return isLoopbackPeer(request)
    ? 'The inbox answers on this machine under its own names only: open it at localhost or 127.0.0.1.'
    : 'The inbox can hold password resets, so it answers on its own machine only, or with the access token of an operator, or of an owner or developer of every account.';
}

/** Header fields of every answer of the inbox; pages add their Content-Security-Policy. */
function protect(reply: FastifyReply): void {
  reply.headers({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  });
}
