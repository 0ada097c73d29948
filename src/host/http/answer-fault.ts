import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUnavailable } from '../../base/database/sqlstate.ts';
import { Fault } from '../../base/values/errors.ts';
import { errorCatalog } from './error-catalog.ts';
import type { Exchange } from './exchange.ts';
import type { RequestFailure } from './request-log.ts';

/** `Retry-After` in seconds if the service is over capacity or can't reach its database. */
const defaultRetryAfter = 1;

/**
 * Sends an error of the contract's operations: status and message of section 7, `errorName`, `details` and the
 * request ID. An error that is not a Fault becomes a 503 if the database is down, else a logged 500.
 */
export function answerFault(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const fault = toFault(error);
  const { status, headers, body } = describeFault(fault, request);
  request.failure = failureOf(fault);
  return reply.code(status).headers(Object.fromEntries(headers)).send(body);
}

/** Like `answerFault`, for a request handled without the framework. */
export function answerFaultDirectly(fault: Fault, exchange: Exchange): void {
  const { status, headers, body } = describeFault(fault, exchange);
  exchange.failure = failureOf(fault);
  exchange.answer(status, JSON.stringify(body), headers.flat());
}

/** What callers can look up of a fault; undefined if it says that their credential isn’t valid. */
function failureOf({ code, challenge, details }: Fault): RequestFailure | undefined {
  const lacksPermission = challenge === 'insufficient_scope';
  if (code === 'UNAUTHORIZED' && !lacksPermission) return undefined;
  const reason = lacksPermission
    ? 'the credential lacks the permission for this call'
    : errorCatalog[code].message;
  return { error: code, details: details.length > 0 ? details : [{ field: '', reason }] };
}

/** The parts of a request that error responses and logs need. */
type RequestContext = Pick<FastifyRequest, 'id' | 'log'>;

interface FaultAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Readonly<Record<string, unknown>>;
}

/** Builds the response to a fault; logs internal errors. */
function describeFault(fault: Fault, context: RequestContext): FaultAnswer {
  const { status } = errorCatalog[fault.code];
  logFault(fault, context);
  const headers: [string, string][] = [];
  if (status === 503 || fault.retryAfter !== undefined)
    headers.push(['retry-after', String(Math.ceil(fault.retryAfter ?? defaultRetryAfter))]);
  // RFC 6750 section 3: a 401 for a missing or invalid bearer token names the scheme.
  if (fault.code === 'UNAUTHORIZED') headers.push(['www-authenticate', challengeOf(fault)]);
  return { status, headers, body: faultBody(fault, context.id) };
}

/** Logs a fault of the service itself. */
export function logFault(fault: Fault, { log }: Pick<RequestContext, 'log'>): void {
  const { status, message } = errorCatalog[fault.code];
  if (status >= 500) log.error({ err: fault.cause ?? fault }, message);
}

/** The body of an error response. */
export function faultBody(fault: Fault, requestId: string): FaultAnswer['body'] {
  const { status, message } = errorCatalog[fault.code];
  return {
    success: false,
    status,
    errorName: fault.code,
    message,
    details: fault.details,
    ...fault.extra,
    requestId,
  };
}

function challengeOf({ challenge }: Fault): string {
  const error = challenge === undefined ? '' : `, error="${challenge}"`;
  return `Bearer realm="signalpost"${error}`;
}

/** Converts an error: a Fault stays, IO_EXCEPTION if the database is unavailable, else INTERNAL_ERROR. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault(isUnavailable(error) ? 'IO_EXCEPTION' : 'INTERNAL_ERROR', { cause: error });
}
