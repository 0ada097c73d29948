/**
 * A mistake that the operator can mend: a wrong setting, a taken port, a folder that cannot be written.
 * The message is one sentence for a person; the command line prints it without a stack and exits with 1.
 */
export class OperatorError extends Error {
  override name = 'OperatorError';
}

/** One problem of a request: the field it concerns and the rule that it breaks. */
export interface FaultDetail {
  readonly field: string;
  readonly reason: string;
}

/**
 * Stable names of everything that can be answered to a caller of the contract's JSON operations.
 * The status and the public sentence of each stand in `http/error-catalog.ts`; a retired name is never reused.
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

/** A request that cannot be served, said in the field's terms; rooms throw it, `http` turns it into an answer. */
export class Fault extends Error {
  override name = 'Fault';
  readonly code: FaultCode;
  readonly details: readonly FaultDetail[];
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined;
  /** Further members of the answer, such as `suppressedRecipients`. */
  readonly extra: Readonly<Record<string, unknown>> | undefined;
  /** Of UNAUTHORIZED: why the token that was sent does not do (RFC 6750 section 3.1). */
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

/** Too much of one kind is under way: the same request may succeed in a moment. */
export class Busy extends Error {
  override name = 'Busy';
  /** Seconds after which to try again. */
  readonly retryAfter: number;

  /** @param message one sentence for the caller */
  constructor(message: string, retryAfter: number) {
    super(message);
    this.retryAfter = retryAfter;
  }
}
