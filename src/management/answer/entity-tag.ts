import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Problem } from './problem.ts';

/** A strong entity tag (RFC 9110 section 8.8.3) of an answer's JSON text. */
export function entityTag(text: string): string {
  return `"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

/**
 * Heeds the preconditions of a change (RFC 9110 section 13.1) against what there is now.
 * @param now undefined where there is nothing
 * @throws Problem where it is not what the caller has seen
 */
export function requirePreconditions(request: FastifyRequest, now: unknown): void {
  const { 'if-match': match, 'if-none-match': noneMatch } = request.headers;
  if (match === undefined && noneMatch === undefined) return;
  const tag = now === undefined ? undefined : entityTag(JSON.stringify(now));
  if (match !== undefined && !matchesEntityTag(match, tag)) {
    throw new Problem(
      'precondition-failed',
      now === undefined ? 'It is not there' : 'It is not as it was when you read it; read it again',
    );
  }
  if (noneMatch !== undefined && matchesEntityTag(noneMatch, tag)) {
    throw new Problem('precondition-failed', 'It is there already');
  }
}

/**
 * True where the list of tags names what there is now.
 * @param tag undefined where there is nothing
 */
export function matchesEntityTag(header: string, tag: string | undefined): boolean {
  if (tag === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}
