import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUnavailable } from '../foundation/database/sqlstate.ts';
import { Fault } from '../foundation/errors.ts';
import { errorCatalogue } from './error-catalogue.ts';

/** Seconds that a caller is asked to wait where the service is over its capacity or without its database. */
const defaultRetryAfter = 1;

/**
 * Answers an error of the contract's send and message operations: status and message of section 7,
 * `errorName`, `details` and the request id. What is no Fault is a 503 where the database is away, else a logged 500.
 */
export function answerFault(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const fault = toFault(error);
  const { status, message } = errorCatalogue[fault.code];
  if (status >= 500) request.log.error({ err: fault.cause ?? fault }, message);
  if (status === 503 || fault.retryAfter !== undefined) {
    reply.header('retry-after', Math.ceil(fault.retryAfter ?? defaultRetryAfter));
  }
  // RFC 6750 section 3: a 401 for want of a valid bearer token names the scheme.
  if (fault.code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Bearer realm="signalpost"');
  return reply.code(status).send({
    success: false,
    status,
    errorName: fault.code,
    message,
    details: fault.details,
    ...fault.extra,
    requestId: request.id,
  });
}

/** The fault that an error means: itself, IO_EXCEPTION where the database cannot work now, else INTERNAL_ERROR. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault(isUnavailable(error) ? 'IO_EXCEPTION' : 'INTERNAL_ERROR', { cause: error });
}
