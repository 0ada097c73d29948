import { Fault } from '../foundation/errors.ts';

/**
 * The refusal of a request without a valid token: some client libraries refresh theirs only where the answer says that
 * it isn't valid; one for a missing token says nothing (RFC 6750 section 3.1).
 * @param authorization the value of the request's header
 */
export function unauthorized(authorization: string | undefined): Fault {
  const sent = authorization !== undefined && /^bearer +[^\s]/i.test(authorization);
  return sent
    ? new Fault('UNAUTHORIZED', { challenge: 'invalid_token' })
    : new Fault('UNAUTHORIZED');
}
