/** An invalid body member or parameter, and the rule it breaks. */
export interface FieldError {
  readonly field: string;
  readonly reason: string;
}

interface CatalogEntry {
  readonly status: number;
  readonly title: string;
}

/** Status and title of every problem the management API reports. Names are never reused. */
export const problemCatalog = {
  'malformed-request': { status: 400, title: 'Malformed request' },
  unauthenticated: { status: 401, title: 'Authentication required' },
  forbidden: { status: 403, title: 'Permission denied' },
  'confirmation-required': { status: 403, title: 'Confirmation required' },
  'single-sign-on-required': { status: 403, title: 'Single sign-on required' },
  'second-factor-required': { status: 403, title: 'Second factor required' },
  'link-expired': { status: 403, title: 'Link expired' },
  'foreign-request': { status: 403, title: 'Cross-site request rejected' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'too-slow': { status: 408, title: 'Request timeout' },
  conflict: { status: 409, title: 'Conflict' },
  'breaks-callers': { status: 409, title: 'Breaks recent callers' },
  'events-expired': { status: 410, title: 'Events no longer available' },
  'precondition-failed': { status: 412, title: 'Precondition failed' },
  'too-large': { status: 413, title: 'Request body too large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  'validation-failed': { status: 422, title: 'Validation failed' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'internal-error': { status: 500, title: 'Internal server error' },
  busy: { status: 503, title: 'Too many operations in progress' },
  unavailable: { status: 503, title: 'Service temporarily unavailable' },
} as const satisfies Readonly<Record<string, CatalogEntry>>;

export type ProblemCode = keyof typeof problemCatalog;

interface ProblemOptions {
  readonly errors?: readonly FieldError[];
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** An error of the management API, sent as problem details (RFC 9457). */
export class Problem extends Error {
  override name = 'Problem';
  readonly code: ProblemCode;
  readonly errors: readonly FieldError[];
  /** Extension members of the response (RFC 9457 section 3.2). */
  readonly extra: Readonly<Record<string, unknown>>;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined;

  /** @param detail one sentence about this particular request */
  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.errors = options.errors ?? [];
    this.extra = options.extra ?? {};
    this.retryAfter = options.retryAfter;
  }
}

/** A problem with a single invalid value. */
export function invalidField(field: string, reason: string): Problem {
  return new Problem('validation-failed', `${field} ${reason}`, { errors: [{ field, reason }] });
}

/** A problem with the values of a request, whose detail is the first of them. */
export function invalidFields(errors: readonly FieldError[]): Problem {
  const [first] = errors;
  const detail = `${first?.field ?? ''} ${first?.reason ?? 'is invalid'}`.trim();
  return new Problem('validation-failed', detail, { errors });
}

/** The state of a resource doesn't allow the request. */
export function conflict(detail: string, options?: ProblemOptions): Problem {
  return new Problem('conflict', detail, options);
}

/** The caller isn't allowed to do it. */
export function forbidden(detail: string, options?: ProblemOptions): Problem {
  return new Problem('forbidden', detail, options);
}

/** The same for a missing resource and one of another account, so callers can't probe for existence. */
export function notFound(what: string): Problem {
  return new Problem('not-found', `${what.charAt(0).toUpperCase()}${what.slice(1)} not found`);
}

/** Why invitations and verification links can't be sent. */
export const noSystemMail = 'System mail isn’t configured. An operator must set SYSTEM_MAIL_FROM';
