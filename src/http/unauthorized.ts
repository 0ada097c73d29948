import { Fault } from '../foundation/errors.ts';

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
