import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import type { AccountId, MessageId, TemplateId } from '../../base/values/ids.ts';
import type { NoteKind, OutcomeKind } from '../../content/message/event-kinds.ts';
import type { RetryKind } from './retry-schedule.ts';

/** A message leased by this process, with everything needed to send it. */
export interface ClaimedMessage {
  readonly accountId: AccountId;
  readonly messageId: MessageId;
  readonly retentionDays: number;
  /** Unique ID of the claim that created the lease. */
  readonly owner: string;
  /** Increases with each claim. Later writes check owner and fence, so a lost lease changes nothing. */
  readonly fence: string;
  /** Counts from 1. */
  readonly attempt: number;
  /** Recipients to try: 0 is To, 1 and up are Cc. `advance` removes those it settled, and those erased meanwhile. */
  pending: readonly number[];
  /** Recipients held for review. */
  readonly held: readonly number[];
  /** Pending recipients for which an earlier attempt may have sent the final dot. Their events are already recorded. */
  readonly doubtful: readonly number[];
  /** Paused while it was being sent by a worker that then stopped: don't send it. */
  readonly paused: boolean;
  /** Canceled by a user: don't send to pending recipients. */
  readonly canceled: boolean;
  /** How many of its leases in a row expired, as they do when a process dies; above `suspectAfter`, only those of attempts that were alone. */
  readonly orphaned: number;
  /** Domains paused for this account. */
  readonly pausedDestinations: readonly string[];
  readonly expired: boolean;
  /** Milliseconds from the claim until `expires_at`; negative if it has passed. */
  readonly remainingMs: number;
  /** `performance.now()` value of its deadline, if it has one: the final dot must not be sent later. */
  readonly deadlineAt?: number;
  readonly whenUncertain: UncertainPolicy;
  /** The send time of a scheduled message. */
  readonly acceptedAt: Date;
  readonly deliverWhenDelayed: boolean;
  readonly transactional: boolean;
  readonly templateId: TemplateId;
  readonly templateVersion: number;
  readonly trackOpens: boolean;
  readonly trackClicks: boolean;
  /** As accepted; null if erased or past its retention. */
  readonly content: unknown;
  /**
   * `performance.now()` value when the lease expires unless renewed. Measured from before the claim, so it is never too
   * late.
   */
  leaseEndsAt: number;
  /** Of this attempt, if the message's acceptance was traced. */
  span?: TraceSpan;
}

/** From so many orphaned leases, a message may be what ends its processes, so it is sent alone: nothing else is orphaned with it. */
export const suspectAfter = 2;
/** From so many, it is held for review. */
export const holdAfter = 4;

/** What to do with a message whose final dot may have been sent, as set in the template. */
type UncertainPolicy = 'resend' | 'hold';

/** The result for one recipient in one attempt. */
export interface RecipientResult {
  readonly recipient: number;
  readonly outcome: OutcomeKind;
  /** One sentence shown to users, without addresses. */
  readonly reason: string;
  /** Retry schedule for `deferred` and `uncertain`. */
  readonly retry?: RetryKind;
  /** Seconds the receiver asked us to wait. */
  readonly retryAfter?: number;
  /** True if its event is already recorded. */
  readonly recorded?: boolean;
  readonly eventId?: string;
  /** When it was known, by `performance.now()`; at the end of the attempt if absent. */
  readonly happenedAt?: number;
  /** For the metrics: the operator of the recipient's mail server, if it is a known one. */
  readonly receiver?: string;
  /** By which the reports of a relay name the delivery. */
  readonly relayId?: string;
  /** Stored with the event: reply, kind, transcript. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** A result that can be recorded before the attempt ends. */
export interface RecordableResult extends RecipientResult {
  /** Of its event, so that writing it again is harmless if the first reply of the database was lost. */
  readonly eventId: string;
  readonly happenedAt: number;
}

/** A note about the message that isn't a recipient's outcome, such as a link that was emptied. */
export interface AttemptNote {
  readonly kind: NoteKind;
  readonly recipient?: number;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface AttemptResult {
  /** One per recipient tried. Empty if nothing was tried; the lease is then released. */
  readonly results: readonly RecipientResult[];
  /**
   * If `results` is empty: when to retry and why not now. Absent means immediately, because this process is stopping.
   */
  readonly postponed?: { readonly delayMs: number; readonly reason: string };
  readonly notes: readonly AttemptNote[];
  /** Fields to erase once the message is final; undefined for none. */
  readonly secretFields?: readonly string[] | undefined;
}

/** Why nothing was sent while the database was unavailable. */
export const databaseReason =
  'Signalpost’s database did not respond in time; delivery was not attempted';

/** Nothing was attempted, because the database was unavailable. The attempt doesn't count. */
export const resultWithoutDatabase: AttemptResult = Object.freeze({
  results: [],
  notes: [],
  postponed: { delayMs: 5_000, reason: databaseReason },
});

/** The lease operations available to an attempt. */
export interface Lease {
  /**
   * Durably records that the final dot may now be sent.
   * @returns false if the lease is lost; the dot must not be sent
   * @throws if the outcome is unknown; the dot must not be sent
   */
  markDot(): Promise<boolean>;
  /**
   * Call before each transaction of a multi-transaction message. Durably records the earlier results, so that a failure
   * makes only the next transaction's recipients uncertain.
   * @param results of the transactions so far
   * @param next recipients of the next transaction
   * @returns what is left to report at the end; undefined if the lease is lost, so no further transaction may start
   * @throws if the outcome is unknown; no further transaction may start
   */
  advance(
    results: readonly RecordableResult[],
    next: readonly number[],
  ): Promise<readonly RecordableResult[] | undefined>;
  /** Aborts when the service stops; don't start new work after that. */
  readonly stopping: AbortSignal;
}

/** Sends a claimed message. Never throws for remote failures. Undefined means the lease is lost: write nothing. */
export type Attempt = (message: ClaimedMessage, lease: Lease) => Promise<AttemptResult | undefined>;

/** Members of log lines about an attempt. */
export function attemptLogFields({ messageId, attempt, span }: ClaimedMessage): object {
  return { messageId, attempt, ...span?.logFields };
}
