/** One problem of a request: which field, and why. */
export interface Problem {
  readonly field: string;
  readonly reason: string;
}

export interface Failure {
  readonly message: string;
  /** The HTTP status; absent without a response. */
  readonly status?: number;
  /** Identifies the request in the service's log. */
  readonly requestId?: string;
  readonly details?: readonly Problem[];
}

/** What every error of this client has in common. No error contains a key, a token, a password or the content of an email. */
export abstract class SignalpostError extends Error {
  abstract readonly code: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** Every invalid field, with the reason. */
  readonly details: readonly Problem[];

  constructor({ message, status, requestId, details = [] }: Failure, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.requestId = requestId;
    this.details = details;
  }
}

/** The request breaks a rule; `details` names the fields. Contract 7. */
export class ValidationError extends SignalpostError {
  override readonly name = 'ValidationError';
  readonly code = 'VALIDATION_FAILED';
}

/** The sender, its display name or the reply address isn't verified. Contract 4.3 rule 4. */
export class SenderNotAllowedError extends SignalpostError {
  override readonly name = 'SenderNotAllowedError';
  readonly code = 'SENDER_NOT_ALLOWED';
}

/** The account, the template or the message doesn't exist, or isn't visible to the caller. */
export class InvalidIdError extends SignalpostError {
  override readonly name = 'InvalidIdError';
  readonly code = 'INVALID_ID';
}

/** Fields of the template have no value. Contract 4.3 rule 3. */
export class PersonalizationError extends SignalpostError {
  override readonly name = 'PersonalizationError';
  readonly code = 'PERSONALIZATION_FAILURE';

  /** Names of the fields without a value. */
  get missing(): readonly string[] {
    return this.details.map(({ field }) => field.replace(/^content\.personalizationDataMap\./, ''));
  }
}

/** The To address is suppressed: it bounced, complained or unsubscribed. */
export class SuppressedError extends SignalpostError {
  override readonly name = 'SuppressedError';
  readonly code = 'RECIPIENT_SUPPRESSED';
  /** The suppressed addresses. */
  readonly recipients: readonly string[];
  /** Looks like that of a waiting message, if `statusToken.private` asks for it. */
  readonly statusUrl: string | undefined;

  constructor(failure: Failure, recipients: readonly string[], statusUrl?: string) {
    super(failure);
    this.recipients = recipients;
    this.statusUrl = statusUrl;
  }
}

export class AccountSuspendedError extends SignalpostError {
  override readonly name = 'AccountSuspendedError';
  readonly code = 'ACCOUNT_SUSPENDED';
}

/** The key or token is missing, wrong, expired or lacks the permission. */
export class UnauthorizedError extends SignalpostError {
  override readonly name = 'UnauthorizedError';
  readonly code = 'UNAUTHORIZED';
}

/** The idempotency key was used for another request within a day. */
export class IdempotencyMismatchError extends SignalpostError {
  override readonly name = 'IdempotencyMismatchError';
  readonly code = 'IDEMPOTENCY_MISMATCH';
}

/** A rate limit is reached, and the deadline ends before the next attempt. */
export class RateLimitedError extends SignalpostError {
  override readonly name = 'RateLimitedError';
  readonly code = 'RATE_LIMITED';
  /** Seconds after which a request is allowed again. */
  readonly retryAfter: number | undefined;

  constructor(failure: Failure, retryAfter: number | undefined) {
    super(failure);
    this.retryAfter = retryAfter;
  }
}

/**
 * The service didn't respond before the deadline: it was down, overloaded or unreachable. An email may have been accepted
 * anyway; sending again with the same `idempotencyKey` never sends it twice. A change may have been made, too: read it again.
 */
export class UnavailableError extends SignalpostError {
  override readonly name = 'UnavailableError';
  readonly code = 'UNAVAILABLE';
  /** Send again with this key. */
  readonly idempotencyKey: string | undefined;

  constructor(failure: Failure, idempotencyKey: string | undefined, options?: ErrorOptions) {
    super(failure, options);
    this.idempotencyKey = idempotencyKey;
  }
}

/** The token endpoint refused the credentials (RFC 6749 section 5.2). */
export class OAuthError extends SignalpostError {
  override readonly name = 'OAuthError';
  readonly code = 'OAUTH';
  /** The `error` of the response, such as `invalid_grant`. */
  readonly error: string;

  constructor(failure: Failure, error: string) {
    super(failure);
    this.error = error;
  }
}

/** A management request failed for another reason; `type` is the path of its description. */
export class RequestError extends SignalpostError {
  override readonly name = 'RequestError';
  readonly code = 'REQUEST';
  /** Such as `/problems/not-found`. */
  readonly type: string | undefined;

  constructor(failure: Failure, type: string | undefined) {
    super(failure);
    this.type = type;
  }
}

/** An internal error of the service, logged with `requestId`. */
export class InternalError extends SignalpostError {
  override readonly name = 'InternalError';
  readonly code = 'INTERNAL_ERROR';
}

/** The message ended in a state other than `delivered`, or didn't end in time. */
export class NotDeliveredError extends SignalpostError {
  override readonly name = 'NotDeliveredError';
  readonly code = 'NOT_DELIVERED';
  /** The last state seen. */
  readonly state: string;

  constructor(messageId: string, state: string) {
    super({ message: `Message ${messageId} isn’t delivered; its state is ${state}` });
    this.state = state;
  }
}

/** The webhook request isn't signed with one of the secrets, or is too old. */
export class WebhookVerificationError extends SignalpostError {
  override readonly name = 'WebhookVerificationError';
  readonly code = 'WEBHOOK_VERIFICATION';
}

/** Every error that this client throws; narrow it by `code`. */
export type SignalpostFailure =
  | ValidationError
  | SenderNotAllowedError
  | InvalidIdError
  | PersonalizationError
  | SuppressedError
  | AccountSuspendedError
  | UnauthorizedError
  | IdempotencyMismatchError
  | RateLimitedError
  | UnavailableError
  | OAuthError
  | RequestError
  | InternalError
  | NotDeliveredError
  | WebhookVerificationError;
