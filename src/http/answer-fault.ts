import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUnavailable } from '../foundation/database/sqlstate.ts';
import { Fault } from '../foundation/errors.ts';
import { errorCatalog } from './error-catalog.ts';
import type { Exchange } from './exchange.ts';

/** Seconds that a caller is asked to wait where the service is over its capacity or without its database. */
const defaultRetryAfter = 1;

/**
 * Answers an error of the contract's operations: status and message of section 7, `errorName`, `details` and the request
 * id. What is no Fault is a 503 where the database is away, else a logged 500.
 */
export function answerFault(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { status, headers, body } = describeFault(toFault(error), request);
  return reply.code(status).headers(Object.fromEntries(headers)).send(body);
}

/** The same for a request that is answered without the framework. */
export function answerFaultDirectly(fault: Fault, exchange: Exchange): void {
  const { status, headers, body } = describeFault(fault, exchange);
  exchange.answer(status, JSON.stringify(body), headers.flat());
}

/** What a request is known by, and where it logs. */
type RequestContext = Pick<FastifyRequest, 'id' | 'log'>;

interface FaultAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Readonly<Record<string, unknown>>;
}

/** What is answered to a fault; one of the service itself is logged. */
function describeFault(fault: Fault, context: RequestContext): FaultAnswer {
  const { status, message } = errorCatalog[fault.code];
  if (status >= 500) context.log.error({ err: fault.cause ?? fault }, message);
  const headers: [string, string][] = [];
  if (status === 503 || fault.retryAfter !== undefined)
    headers.push(['retry-after', String(Math.ceil(fault.retryAfter ?? defaultRetryAfter))]);
  // RFC 6750 section 3: a 401 for want of a valid bearer token names the scheme.
  if (fault.code === 'UNAUTHORIZED') headers.push(['www-authenticate', challengeOf(fault)]);
  const body = {
    success: false,
    status,
    errorName: fault.code,
    message,
    details: fault.details,
    ...fault.extra,
    requestId: context.id,
  };
  return { status, headers, body };
}

function challengeOf({ challenge }: Fault): string {
  const error = challenge === undefined ? '' : `, error="${challenge}"`;
  return `Bearer realm="signalpost"${error}`;
}

/** The fault that an error means: itself, IO_EXCEPTION where the database cannot work now, else INTERNAL_ERROR. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault(isUnavailable(error) ? 'IO_EXCEPTION' : 'INTERNAL_ERROR', { cause: error });
}
