import type { AccountId, MessageId, TemplateId } from '../foundation/ids.ts';
import type { NoteKind, OutcomeKind } from '../message/event-kinds.ts';
import type { RetryKind } from './retry-schedule.ts';

/** A message that this process holds the lease of, with all that sending it needs. */
export interface ClaimedMessage {
  readonly accountId: AccountId;
  readonly messageId: MessageId;
  readonly retentionDays: number;
  /** Names the claim that took the lease, as no other claim is named. */
  readonly owner: string;
  /** Grows with each claim. Every later write names owner and fence, so that a lost lease changes nothing. */
  readonly fence: string;
  /** Counts from 1. */
  readonly attempt: number;
  /** Recipients to try: 0 is To, 1 and up are Cc. Fewer once `advance` has written what became of some. */
  pending: readonly number[];
  /** Recipients that wait for a person. */
  readonly held: readonly number[];
  /** Of the pending ones, those for which the final dot of an earlier attempt may have left; the events of it are already written. */
  readonly doubtful: readonly number[];
  /** A person withdrew it: what is pending is not to be sent. */
  readonly canceled: boolean;
  /** Domains that the account's mail does not go to for now. */
  readonly pausedDestinations: readonly string[];
  readonly expired: boolean;
  /** Milliseconds from the claim until `expires_at`; negative once it is past. */
  readonly remainingMs: number;
  readonly whenUncertain: UncertainPolicy;
  readonly acceptedAt: Date;
  readonly deliverWhenDelayed: boolean;
  readonly transactional: boolean;
  readonly templateId: TemplateId;
  readonly templateVersion: number;
  readonly trackOpens: boolean;
  readonly trackClicks: boolean;
  /** As accepted; null where it was erased or its retention is over. */
  readonly content: unknown;
  /** `performance.now()` at which the lease ends unless it is renewed; measured from before the claim, so never late. */
  leaseEndsAt: number;
}

/** What the template wants for a message whose final dot may have left. */
export type UncertainPolicy = 'resend' | 'hold';

/** What became of one recipient in one attempt. */
export interface RecipientResult {
  readonly recipient: number;
  readonly outcome: Exclude<OutcomeKind, 'suppressed'>;
  /** One sentence for people, without addresses. */
  readonly reason: string;
  /** For `deferred` and `uncertain`: which schedule. */
  readonly retry?: RetryKind;
  /** Seconds that the receiver asked to wait. */
  readonly retryAfter?: number;
  /** True where the event of it is written already. */
  readonly recorded?: boolean;
  /** Kept with the event: reply, kind, transcript. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Something to know about a message that is no recipient's outcome, such as a link that was emptied. */
export interface AttemptNote {
  readonly kind: NoteKind;
  readonly recipient?: number;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface AttemptResult {
  /** One for each pending recipient that was tried. Empty: nothing was tried, and the lease is given back. */
  readonly results: readonly RecipientResult[];
  /** With empty results: when to try, and why not now. Absent: at once, since this process stops. */
  readonly postponed?: { readonly delayMs: number; readonly reason: string };
  readonly notes: readonly AttemptNote[];
  /** Fields whose values are erased once the message is final; undefined: none. */
  readonly secretFields?: readonly string[] | undefined;
}

/** The lease as an attempt sees it. */
export interface Lease {
  /**
   * Writes and flushes that the final dot may leave now.
   * @returns false where the lease is lost: the dot must not leave
   * @throws where nobody can say: the dot must not leave
   */
  markDot(): Promise<boolean>;
  /**
   * Where a message goes in several transactions, called before each: writes and flushes what the earlier ones came to, so
   * that whatever happens next makes only the recipients of the next one uncertain.
   * @param results of the transactions so far
   * @param next recipients of the next one
   * @returns what is left to report at the end; undefined where the lease is lost: no further transaction
   * @throws where nobody can say: no further transaction either
   */
  advance(
    results: readonly RecipientResult[],
    next: readonly number[],
  ): Promise<readonly RecipientResult[] | undefined>;
  /** Aborts when the service stops: what has not begun must not begin. */
  readonly stopping: AbortSignal;
}

/** Sends a claimed message. Never throws for what the outside world does; undefined: the lease is lost, write nothing. */
export type Attempt = (message: ClaimedMessage, lease: Lease) => Promise<AttemptResult | undefined>;
