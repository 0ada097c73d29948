/**
 * An error the operator can fix: a wrong setting, a port in use, an unwritable folder. The command line prints the message
 * without a stack trace and exits with 1.
 */
export class OperatorError extends Error {
  override name = 'OperatorError';
}

/** A problem in a request: the field and the rule it breaks. */
export interface FaultDetail {
  readonly field: string;
  readonly reason: string;
}

/**
 * Stable error names of the contract's JSON operations. `http/error-catalog.ts` has their status and message; retired names
 * are never reused.
 */
export type FaultCode =
  | 'SENDER_NOT_ALLOWED'
  | 'INVALID_ID'
  | 'VALIDATION_FAILED'
  | 'PERSONALIZATION_FAILURE'
  | 'RECIPIENT_SUPPRESSED'
  | 'ACCOUNT_SUSPENDED'
  | 'UNAUTHORIZED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'IDEMPOTENCY_MISMATCH'
  | 'QUOTA_EXCEEDED'
  | 'IO_EXCEPTION'
  | 'INTERNAL_ERROR';

/** A failed request in domain terms; modules throw it, `http` turns it into a response. */
export class Fault extends Error {
  override name = 'Fault';
  readonly code: FaultCode;
  readonly details: readonly FaultDetail[];
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined;
  /** Extra members of the response, such as `suppressedRecipients`. */
  readonly extra: Readonly<Record<string, unknown>> | undefined;
  /** For UNAUTHORIZED: why the token was rejected (RFC 6750 section 3.1). */
  readonly challenge: 'invalid_token' | 'insufficient_scope' | undefined;

  constructor(
    code: FaultCode,
    options: {
      details?: readonly FaultDetail[];
      retryAfter?: number;
      extra?: Readonly<Record<string, unknown>>;
      challenge?: 'invalid_token' | 'insufficient_scope';
      cause?: unknown;
    } = {},
  ) {
    super(code, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfter = options.retryAfter;
    this.extra = options.extra;
    this.challenge = options.challenge;
  }
}

/** Over capacity; the same request may succeed shortly. */
export class Busy extends Error {
  override name = 'Busy';
  /** Seconds after which to retry. */
  readonly retryAfter: number;

  /** @param message one sentence for the caller */
  constructor(message: string, retryAfter: number) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/** What an error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
