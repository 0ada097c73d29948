import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/** The token of `Authorization: Bearer …` (RFC 6750 section 2.1); undefined where another scheme or none is used. */
export function bearerTokenOf(request: FastifyRequest): string | undefined {
  return /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
}

/** Compares two secrets in a time that says nothing about either, not even their lengths. */
export function isSameSecret(given: string, right: string): boolean {
  return timingSafeEqual(digest(given), digest(right));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
