/** One thing that is wrong with a request: a member of the body or a parameter, and the rule that it breaks. */
interface FieldError {
  readonly field: string;
  readonly reason: string;
}

interface CatalogueEntry {
  readonly status: number;
  readonly title: string;
}

/** Status and title of everything that the management API can refuse. Names are never reused. */
export const problemCatalogue = {
  'malformed-request': { status: 400, title: 'The request cannot be read' },
  unauthenticated: { status: 401, title: 'Sign in first' },
  forbidden: { status: 403, title: 'Your role does not allow this' },
  'link-expired': { status: 403, title: 'This link no longer works' },
  'foreign-request': { status: 403, title: 'Pages of other sites cannot change anything here' },
  'not-found': { status: 404, title: 'There is no such thing' },
  'method-not-allowed': { status: 405, title: 'This cannot be done to it' },
  'too-slow': { status: 408, title: 'The body took too long' },
  conflict: { status: 409, title: 'Something stands in the way' },
  'breaks-callers': { status: 409, title: 'Recent callers would be refused' },
  'precondition-failed': { status: 412, title: 'It was changed meanwhile' },
  'too-large': { status: 413, title: 'The body is too large' },
  'unsupported-media-type': { status: 415, title: 'The body has another type than expected' },
  'validation-failed': { status: 422, title: 'Some values cannot be used' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'internal-error': { status: 500, title: 'Internal Server Error' },
  busy: { status: 503, title: 'Too much is under way; retry shortly' },
  unavailable: { status: 503, title: 'The service cannot work now; try again shortly' },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

export type ProblemCode = keyof typeof problemCatalogue;

/** A refusal of the management API; it is answered as problem details (RFC 9457). */
export class Problem extends Error {
  override name = 'Problem';
  readonly code: ProblemCode;
  readonly errors: readonly FieldError[];
  /** Further members of the answer (RFC 9457 section 3.2). */
  readonly extra: Readonly<Record<string, unknown>>;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined;

  /** @param detail one sentence about this very request */
  constructor(
    code: ProblemCode,
    detail: string,
    options: {
      readonly errors?: readonly FieldError[];
      readonly extra?: Readonly<Record<string, unknown>>;
      readonly retryAfter?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.errors = options.errors ?? [];
    this.extra = options.extra ?? {};
    this.retryAfter = options.retryAfter;
  }
}

/** One value of the request that cannot be used. */
export function invalidField(field: string, reason: string): Problem {
  return new Problem('validation-failed', `${field} ${reason}`, { errors: [{ field, reason }] });
}

/** Somebody else's and what does not exist are told apart by nothing. */
export function notFound(what: string): Problem {
  return new Problem('not-found', `There is no such ${what}`);
}

/** Why there is neither an invitation nor a link. */
export const noSystemMail =
  'This service sends no mail of its own: an operator has to set SYSTEM_MAIL_FROM';
