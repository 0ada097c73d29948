import type { FastifyReply, FastifyRequest } from 'fastify';
import { AccountLimitReached } from '../../../accounts/account/account-limit-store.ts';
import { BudgetUsedUp } from '../../../base/database/budget-store.ts';
import { isForeignKeyViolation, isUnavailable } from '../../../base/database/sqlstate.ts';
import { Busy, Fault } from '../../../base/values/errors.ts';
import { TooManyContactFields } from '../../../content/list/contact-store.ts';
import { challengeFor } from '../../../host/http/bearer-token.ts';
import { BodyRefusal } from '../../../host/http/limits/body-traffic.ts';
import { logFailure } from '../../../host/http/request-log.ts';
import { ResourceNotFound } from '../../change/change-resource.ts';
import { ManifestError } from '../../manifest/manifest-problems.ts';
import {
  conflict,
  type FieldError,
  forbidden,
  invalidFields,
  notFound,
  Problem,
  type ProblemCode,
  problemCatalog,
} from './problem.ts';

/** Media type of RFC 9457 section 3. */
const problemType = 'application/problem+json; charset=utf-8';

/** Sends an error as problem details: `type`, `title`, `status`, `detail`, `errors` and the request id. */
export function answerProblemDetails(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = toProblem(error);
  const { status, title } = problemCatalog[problem.code];
  if (status >= 500 && problem.code !== 'busy' && !(error instanceof BodyRefusal))
    logFailure(request, problem.cause ?? problem, title);
  if (status === 503 || problem.retryAfter !== undefined)
    reply.header('retry-after', Math.ceil(problem.retryAfter ?? 1));
  if (status !== 401) request.failure = { error: problem.code, details: detailsOf(problem) };
  // RFC 6750 section 3: a 401 names the scheme, and says so if the token that was sent is invalid.
  if (status === 401) reply.header('www-authenticate', challengeFor(request.headers.authorization));
  return reply
    .code(status)
    .type(problemType)
    .send(
      JSON.stringify({
        type: `/problems/${problem.code}`,
        title,
        status,
        detail: problem.message,
        ...(problem.errors.length === 0 ? {} : { errors: problem.errors }),
        ...problem.extra,
        requestId: request.id,
      }),
    );
}

function detailsOf({ errors, message }: Problem): readonly FieldError[] {
  return errors.length > 0 ? errors : [{ field: '', reason: message }];
}

/** Errors raised by the HTTP server itself, by error code. */
const serverCodes: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported-media-type',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed-request',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed-request',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed-request',
};

/** Errors for rejected bodies, by status. */
const refusalCodes: Readonly<Record<BodyRefusal['statusCode'], ProblemCode>> = {
  408: 'too-slow',
  413: 'too-large',
  429: 'too-many-requests',
  503: 'unavailable',
};

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof ResourceNotFound) return notFound(error.what);
  if (error instanceof ManifestError)
    return invalidFields(
      error.problems.map(({ path, message }) => ({ field: path, reason: message })),
    );
  if (error instanceof Fault) return fromFault(error);
  if (error instanceof Busy)
    return new Problem('busy', error.message, { retryAfter: error.retryAfter });
  if (error instanceof AccountLimitReached || error instanceof TooManyContactFields)
    return conflict(error.message);
  if (error instanceof BudgetUsedUp)
    return new Problem('too-many-requests', error.message, { retryAfter: error.retryAfter });
  if (error instanceof BodyRefusal) {
    const { statusCode, message, retryAfter } = error;
    return new Problem(refusalCodes[statusCode], message, { retryAfter });
  }
  if (isUnavailable(error))
    return new Problem('unavailable', 'Try again shortly', { cause: error });
  // A row checked before the transaction can be deleted before it starts, so the caller has to retry.
  if (isForeignKeyViolation(error))
    return conflict(
      'A resource this request refers to was deleted at the same time. Read it again and retry',
      { cause: error },
    );
  const code = serverCodes[codeOf(error)];
  if (code !== undefined && error instanceof Error) return new Problem(code, error.message);
  if (error instanceof SyntaxError)
    return new Problem('malformed-request', 'The body isn’t valid JSON');
  return internalError(error);
}

/** Maps an error of the send operation, for messages sent through this API. */
function fromFault(fault: Fault): Problem {
  const { code, details, retryAfter } = fault;
  if (code === 'QUOTA_EXCEEDED') {
    const detail = `The account ${details[0]?.reason ?? 'has used its quota'}`;
    return new Problem('too-many-requests', detail, { retryAfter });
  }
  if (code === 'ACCOUNT_SUSPENDED')
    return forbidden('The account is suspended. Ask your operator to activate it');
  if (code === 'SENDER_NOT_ALLOWED') {
    const reasons = details.map(({ field, reason }) => `${field} ${reason}`).join('; ');
    return conflict(`The sender isn’t allowed: ${reasons}. Check it under Senders`);
  }
  if (code === 'IO_EXCEPTION')
    return new Problem('unavailable', 'Try again shortly', { cause: fault, retryAfter });
  return internalError(fault);
}

function internalError(cause: unknown): Problem {
  const detail = 'An internal error occurred. Give the requestId to your operator';
  return new Problem('internal-error', detail, { cause });
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
