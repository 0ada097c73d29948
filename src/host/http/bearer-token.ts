import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Fault } from '../../base/values/errors.ts';

/** The token of `Authorization: Bearer …` (RFC 6750 section 2.1); undefined if there is none or the scheme differs. */
export function bearerTokenOf(request: FastifyRequest): string | undefined {
  return /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
}

/** Compares two secrets in constant time, without revealing even their lengths. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * The error for a request without a valid token. Some client libraries refresh their token only if the response says
 * that it is invalid; a missing token has no error code (RFC 6750 section 3.1).
 * @param authorization the value of the request's header
 */
export function unauthorized(authorization: string | undefined): Fault {
  return hasToken(authorization)
    ? new Fault('UNAUTHORIZED', { challenge: 'invalid_token' })
    : new Fault('UNAUTHORIZED');
}

/** The value of `WWW-Authenticate` in such a response. */
export function challengeFor(authorization: string | undefined): string {
  return `Bearer realm="signalpost"${hasToken(authorization) ? ', error="invalid_token"' : ''}`;
}

function hasToken(authorization: string | undefined): boolean {
  return authorization !== undefined && /^bearer +[^\s]/i.test(authorization);
}
