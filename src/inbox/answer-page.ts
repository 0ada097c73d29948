import type { FastifyReply } from 'fastify';

/**
 * What a page of the inbox may do: its own style, script and frame, its own forms, and nothing from elsewhere
 * (Content Security Policy Level 3).
 */
const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Answers a page. */
export function answerPage(reply: FastifyReply, page: string): FastifyReply {
  return reply
    .header('content-security-policy', pagePolicy)
    .type('text/html; charset=utf-8')
    .send(page);
}
