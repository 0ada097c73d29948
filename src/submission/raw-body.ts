import type { FastifyRequest } from 'fastify';
import { codeOf } from '../foundation/database/sqlstate.ts';
import { bodyLimit, type Http } from '../http/create-http.ts';

/**
 * Makes a scope hand bodies over as bytes, whatever their content type says: the send operation decides about type and
 * form only when their turn in the order of checks comes.
 */
export function keepRawBodies(scope: Http): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => {
    done(null, body);
  });
}

const reasons: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: `the body is larger than ${bodyLimit / 1024} KiB`,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'the Content-Type must be application/json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the body is not as long as its Content-Length says',
};

/** What is wrong with the body, where `error` says that it could not be read; else undefined. */
export function unusableReason(error: unknown, request: FastifyRequest): string | undefined {
  const reason = reasons[codeOf(error) ?? ''];
  if (reason !== undefined) return reason;
  // The client went away; nobody hears the answer, and it is no fault of the service.
  return request.raw.complete ? undefined : 'the body was not sent whole';
}
