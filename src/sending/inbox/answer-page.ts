import type { FastifyReply, FastifyRequest } from 'fastify';
import { bearerTokenOf } from '../../host/http/bearer-token.ts';
import type { AssetUrls } from './read-assets.ts';
import { renderProblem } from './view/problem-view.ts';

/** Allows pages of the inbox only their own styles, script, frame and forms (Content Security Policy Level 3). */
const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "font-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function answerPage(reply: FastifyReply, page: string): FastifyReply {
  return reply
    .header('content-security-policy', pagePolicy)
    .type('text/html; charset=utf-8')
    .send(page);
}

/** Sends an error response. */
export type AnswerProblem = (
  request: FastifyRequest,
  reply: FastifyReply,
  problem: {
    readonly status: number;
    readonly message: string;
    /** The invalid query parameter. */
    readonly parameter?: string;
  },
) => FastifyReply;

/** Sends errors as JSON with the request ID, or as a page to browsers. */
export function createAnswerProblem(assets: AssetUrls): AnswerProblem {
  return (request, reply, problem) => {
    const { status, message } = problem;
    reply.code(status);
    if (status === 503) reply.header('retry-after', 1);
    if (status === 401) reply.header('www-authenticate', challengeFor(request));
    if (wantsPage(request)) return answerPage(reply, renderProblem(assets, status, message));
    return reply.send({ ...problem, requestId: request.id });
  };
}

function wantsPage(request: FastifyRequest): boolean {
  const accept = request.headers.accept ?? '';
  return !request.url.startsWith('/inbox/api/') && accept.includes('text/html');
}

/** RFC 6750 section 3. */
function challengeFor(request: FastifyRequest): string {
  const error = bearerTokenOf(request) === undefined ? '' : ', error="invalid_token"';
  return `Bearer realm="signalpost inbox"${error}`;
}
