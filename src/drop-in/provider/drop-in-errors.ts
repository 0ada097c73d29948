import { Busy, Fault, type FaultCode, type FaultDetail } from '../../base/values/errors.ts';
import { toFault } from '../../host/http/answer-fault.ts';
import { errorCatalog } from '../../host/http/error-catalog.ts';

/** Why a call of a provider's API fails; the send operation has the other reasons. */
type DropInRefusalKind = 'MISSING_KEY' | 'UNSUPPORTED_CALL' | 'NOT_FOUND' | 'CONFLICT';

/** A request that only an API of a provider can refuse in this way. */
export class DropInRefusal extends Error {
  override name = 'DropInRefusal';
  readonly kind: DropInRefusalKind;

  /** @param message one sentence for the caller */
  constructor(kind: DropInRefusalKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** An error for the form of the provider. */
export interface DropInError {
  readonly kind: FaultCode | DropInRefusalKind | 'MISSING_PERMISSION';
  /** That of the send operation, where it has one. */
  readonly status: number;
  /** Sentences that name the members of the provider's request. */
  readonly message: string;
  /** With the members of the provider's request. */
  readonly details: readonly FaultDetail[];
}

/** How a provider answers the kinds of errors that it documents. */
export type ErrorTable<Form> = Partial<Readonly<Record<DropInError['kind'], Form>>>;

/** What a provider calls the members of the send body. */
export type MemberNames = Readonly<Record<string, string>>;

/** The others are a 404. */
const statuses: ErrorTable<number> = { MISSING_KEY: 401, CONFLICT: 409 };
const sentences: ErrorTable<string> = {
  UNAUTHORIZED: 'The API key isn’t valid here, or lacks the permission for this call.',
  ACCOUNT_SUSPENDED: 'The account is suspended.',
  QUOTA_EXCEEDED: 'The account has reached its quota.',
  IO_EXCEPTION: 'The service is over capacity; retry the request.',
  IDEMPOTENCY_MISMATCH: 'The idempotency key was used with another request.',
  IDEMPOTENCY_IN_PROGRESS: 'A request with this idempotency key is still in progress.',
};

/** An error for a provider's form, in the words of its API. */
export function describeError(error: unknown, names: MemberNames = {}): DropInError {
  if (error instanceof DropInRefusal) {
    const { kind, message } = error;
    return { kind, status: statuses[kind] ?? 404, message, details: [] };
  }
  const { code, details: own, challenge } = toOwnFault(error);
  const details = own
    // The account is no member of a request.
    .filter(({ field }) => field !== 'accountId')
    .map(({ field, reason }) => ({ field: rename(field, names), reason }));
  const { status, message } = errorCatalog[code];
  return {
    kind: challenge === 'insufficient_scope' ? 'MISSING_PERMISSION' : code,
    status,
    message: details.length > 0 ? toSentence(...details) : (sentences[code] ?? `${message}.`),
    details,
  };
}

/** The fault of a call that its caller and the log get to know. */
export function toOwnFault(error: unknown): Fault {
  // The key's account is the only one that it can be about.
  const isForeign =
    error instanceof Fault &&
    error.code === 'INVALID_ID' &&
    error.details[0]?.field === 'accountId';
  if (isForeign) return new Fault('UNAUTHORIZED');
  return error instanceof Busy
    ? new Fault('IO_EXCEPTION', { cause: error, retryAfter: error.retryAfter })
    : toFault(error);
}

/** `envelope.ccAddressList[1]` is `cc[1]` if `envelope.ccAddressList` is `cc`. */
function rename(field: string, names: MemberNames): string {
  const found = Object.keys(names)
    .filter((name) => field.startsWith(name) && /^(?:$|[.[])/.test(field.slice(name.length)))
    .sort((a, b) => b.length - a.length)[0];
  return found === undefined ? field : `${names[found]}${field.slice(found.length)}`;
}

/** What is wrong, as the sentence of an error. */
export function toSentence(...details: readonly FaultDetail[]): string {
  const parts = details.map(({ field, reason }) => (field === '' ? reason : `${field} ${reason}`));
  const text = parts.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
