import type { FastifyReply, FastifyRequest } from 'fastify';
import { bearerTokenOf } from '../../host/http/bearer-token.ts';

interface InboxProblem {
  readonly status: number;
  readonly message: string;
  /** The invalid query parameter. */
  readonly parameter?: string;
}

/** Sends an error as JSON with the request ID. */
export function answerProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  problem: InboxProblem,
): FastifyReply {
  const { status } = problem;
  reply.code(status);
  if (status === 503) reply.header('retry-after', 1);
  if (status === 401) reply.header('www-authenticate', challengeFor(request));
  return reply.send({ ...problem, requestId: request.id });
}

/** RFC 6750 section 3. */
function challengeFor(request: FastifyRequest): string {
  const error = bearerTokenOf(request) === undefined ? '' : ', error="invalid_token"';
  return `Bearer realm="signalpost inbox"${error}`;
}
