import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerPage } from './answer-page.ts';
import type { AssetUrls } from './read-assets.ts';
import { renderProblem } from './view/problem-view.ts';

/** Answers that something cannot be done. */
export type AnswerProblem = (
  request: FastifyRequest,
  reply: FastifyReply,
  problem: {
    readonly status: number;
    readonly message: string;
    /** The query parameter that is wrong. */
    readonly parameter?: string;
  },
) => FastifyReply;

/** Problems as JSON with the request id; as a page where a person looks at it. */
export function createAnswerProblem(assets: AssetUrls): AnswerProblem {
  return (request, reply, problem) => {
    const { status, message } = problem;
    reply.code(status);
    if (status === 503) reply.header('retry-after', 1);
    if (wantsPage(request)) return answerPage(reply, renderProblem(assets, status, message));
    return reply.send({ ...problem, requestId: request.id });
  };
}

function wantsPage(request: FastifyRequest): boolean {
  const accept = request.headers.accept ?? '';
  return !request.url.startsWith('/inbox/api/') && accept.includes('text/html');
}
