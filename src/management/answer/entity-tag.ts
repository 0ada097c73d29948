import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Problem } from './problem.ts';

/** A strong entity tag (RFC 9110 section 8.8.3) of what is answered. */
export function entityTag(view: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(view)).digest('base64url');
  return `"${hash.slice(0, 22)}"`;
}

/**
 * Heeds the preconditions of a change (RFC 9110 section 13.1) against what there is now.
 * @param now undefined where there is nothing
 * @throws Problem where it is not what the caller has seen
 */
export function requirePreconditions(request: FastifyRequest, now: unknown): void {
  const { 'if-match': match, 'if-none-match': noneMatch } = request.headers;
  if (match !== undefined && !isAmong(match, now)) {
    throw new Problem(
      'precondition-failed',
      now === undefined ? 'It is not there' : 'It is not as it was when you read it; read it again',
    );
  }
  if (noneMatch !== undefined && isAmong(noneMatch, now)) {
    throw new Problem('precondition-failed', 'It is there already');
  }
}

/** True where the list of tags names what there is now. */
export function isAmong(header: string, now: unknown): boolean {
  if (now === undefined) return false;
  if (header.trim() === '*') return true;
  const tag = entityTag(now);
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}
