import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Problem } from './problem.ts';

/** A strong entity tag (RFC 9110 section 8.8.3) for a JSON response. */
export function entityTag(text: string): string {
  return `"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

/**
 * Checks If-Match and If-None-Match (RFC 9110 section 13.1) against the current state.
 * @param now undefined if the resource doesn't exist
 * @throws Problem if a precondition fails
 */
export function requirePreconditions(request: FastifyRequest, now: unknown): void {
  const { 'if-match': match, 'if-none-match': noneMatch } = request.headers;
  if (match === undefined && noneMatch === undefined) return;
  const tag = now === undefined ? undefined : entityTag(JSON.stringify(now));
  if (match !== undefined && !matchesEntityTag(match, tag)) {
    throw new Problem(
      'precondition-failed',
      now === undefined
        ? 'The resource doesn’t exist'
        : 'The resource has changed since you read it. Read it again and retry',
    );
  }
  if (noneMatch !== undefined && matchesEntityTag(noneMatch, tag)) {
    throw new Problem('precondition-failed', 'The resource already exists');
  }
}

/**
 * True if the header matches the current entity tag.
 * @param tag undefined if the resource doesn't exist
 */
export function matchesEntityTag(header: string, tag: string | undefined): boolean {
  if (tag === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag);
}
