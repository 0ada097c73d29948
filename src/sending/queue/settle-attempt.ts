import { newId } from '../../base/values/ids.ts';
import { isFinalState, type MessageState } from '../../content/message/message-state.ts';
import type { EventDraft } from '../../content/message/write-events.ts';
import type {
  AttemptResult,
  ClaimedMessage,
  RecipientResult,
  RecordableResult,
} from './attempt.ts';
import { retryDelay } from './retry-schedule.ts';

/** Events written for a message. */
export interface RecordedEvents {
  readonly message: ClaimedMessage;
  readonly events: readonly EventDraft[];
}

/** The effects of an attempt: the queue entry is removed or rescheduled. */
export interface Completion extends RecordedEvents {
  /** True if the queue entry is removed. */
  readonly done: boolean;
  /** Undefined keeps the message's state, because its To recipient wasn't tried. */
  readonly state: MessageState | undefined;
  /** Start of that state, by `performance.now()`. */
  readonly stateSince: number;
  /** Milliseconds until it is due again; undefined if it is done or held for review. */
  readonly dueIn: number | undefined;
  readonly pending: readonly number[];
  readonly held: readonly number[];
  readonly reason: string | null;
  /** Fields to erase because the message is final; undefined for none. */
  readonly erased: readonly string[] | undefined;
  /** True if nothing was tried, so the attempt doesn't count. */
  readonly released: boolean;
}

/**
 * Decides what the result of an attempt changes. This is the pure core of the state machine.
 * @param random 0 to 1, for the retry jitter
 */
export function settleAttempt(
  message: ClaimedMessage,
  attemptResult: AttemptResult,
  random: number,
): Completion {
  // If the last recipient was erased, the message ends without a result.
  if (attemptResult.results.length === 0 && message.pending.length > 0)
    return release(message, attemptResult);
  const held = [...message.held];
  const pending: number[] = [];
  const tried = new Map(attemptResult.results.map((result) => [result.recipient, result]));
  let dueIn: number | undefined;
  let reason: string | null = null;
  for (const recipient of message.pending) {
    const result = tried.get(recipient);
    if (result !== undefined && isHeldForReview(message, result)) held.push(recipient);
    else if (result === undefined || isRetryable(result)) {
      pending.push(recipient);
      const wait = retryDelayMs(message, result, random);
      if (dueIn === undefined || wait < dueIn) dueIn = wait;
    } else continue;
    reason ??= result?.reason ?? null;
  }
  const done = pending.length === 0 && held.length === 0;
  return {
    message,
    done,
    state: tried.get(0)?.outcome,
    stateSince: tried.get(0)?.happenedAt ?? performance.now(),
    dueIn,
    pending,
    held,
    reason: done ? null : reason,
    events: [
      ...notesOf(attemptResult),
      ...attemptResult.results
        .filter((result) => result.recorded !== true)
        .map((result) => eventOf(message, result, dueIn)),
    ],
    erased: done ? attemptResult.secretFields : undefined,
    released: false,
  };
}

function release(message: ClaimedMessage, attemptResult: AttemptResult): Completion {
  return {
    message,
    done: false,
    state: undefined,
    stateSince: performance.now(),
    dueIn: attemptResult.postponed?.delayMs ?? 0,
    pending: message.pending,
    held: message.held,
    reason: attemptResult.postponed?.reason ?? 'the service stopped before it was sent',
    events: notesOf(attemptResult),
    erased: undefined,
    released: true,
  };
}

function isRetryable(result: RecipientResult): boolean {
  return result.outcome === 'deferred' || result.outcome === 'uncertain';
}

function isHeldForReview(message: ClaimedMessage, result: RecipientResult): boolean {
  if (result.outcome === 'failed') return true;
  return result.outcome === 'uncertain' && message.whenUncertain === 'hold';
}

/** At most until the message expires, when it is claimed once more and marked as expired. */
function retryDelayMs(
  message: ClaimedMessage,
  result: RecipientResult | undefined,
  random: number,
): number {
  const kind = result?.retry ?? 'ordinary';
  const wait = retryDelay(kind, message.attempt, random, result?.retryAfter) * 1_000;
  return Math.max(0, Math.min(wait, message.remainingMs));
}

function notesOf(attemptResult: AttemptResult): EventDraft[] {
  return attemptResult.notes.map((note) => ({
    id: newId(),
    happenedAt: performance.now(),
    kind: note.kind,
    recipient: note.recipient ?? null,
    detail: note.detail,
  }));
}

/** The event that records a result. @param dueIn milliseconds until the retry */
function eventOf(
  message: ClaimedMessage,
  result: RecipientResult,
  dueIn: number | undefined,
): EventDraft {
  const willRetry = isRetryable(result) && !isHeldForReview(message, result);
  return {
    id: result.eventId ?? newId(),
    happenedAt: result.happenedAt ?? performance.now(),
    kind: result.outcome,
    recipient: result.recipient,
    ...(result.receiver !== undefined && { receiver: result.receiver }),
    ...(result.relayId !== undefined && { relayId: result.relayId }),
    detail: {
      attempt: message.attempt,
      reason: result.reason,
      ...(willRetry && dueIn !== undefined && { retryInSeconds: Math.round(dueIn / 1_000) }),
      ...result.detail,
    },
  };
}

/** Changes to record between two transactions of an attempt. */
export interface AttemptProgress extends RecordedEvents {
  /** Recipients not yet settled. */
  readonly pending: readonly number[];
  /** Recipients of the next transaction: the only ones the next final dot can make uncertain. */
  readonly next: readonly number[];
  /** Recipients for which an earlier dot may have been sent. */
  readonly doubtful: readonly number[];
  /** Undefined keeps the message's state. */
  readonly state: MessageState | undefined;
  /** Results left for the final report. */
  readonly remaining: readonly RecordableResult[];
}

/**
 * Decides what to record between two transactions of an attempt. Final and uncertain results are written now; retries
 * wait for the end, since the whole message shares one next attempt time.
 */
export function advanceAttempt(
  message: ClaimedMessage,
  results: readonly RecordableResult[],
  next: readonly number[],
): AttemptProgress {
  const settled = results.filter(({ outcome }) => isFinalState(outcome));
  const settledRecipients = new Set(settled.map(({ recipient }) => recipient));
  const uncertain = results.filter(({ outcome }) => outcome === 'uncertain');
  const decided = [...settled, ...uncertain];
  return {
    message,
    pending: message.pending.filter((recipient) => !settledRecipients.has(recipient)),
    next,
    doubtful: [...message.doubtful, ...uncertain.map(({ recipient }) => recipient)].filter(
      (recipient, place, all) =>
        !settledRecipients.has(recipient) && all.indexOf(recipient) === place,
    ),
    state: decided.find(({ recipient }) => recipient === 0)?.outcome,
    events: decided
      .filter(({ recorded }) => recorded !== true)
      .map((result) => eventOf(message, result, undefined)),
    remaining: results
      .filter(({ recipient }) => !settledRecipients.has(recipient))
      .map((result) => (uncertain.includes(result) ? { ...result, recorded: true } : result)),
  };
}
