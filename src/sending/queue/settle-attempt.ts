import { newId } from '../../base/values/ids.ts';
import type { MessageState } from '../../content/message/message-state.ts';
import type { EventDraft } from '../../content/message/write-events.ts';
import type { AttemptResult, ClaimedMessage, RecipientResult } from './attempt.ts';
import { retryDelay } from './retry-schedule.ts';

/** Events written for a message. */
export interface RecordedEvents {
  readonly message: ClaimedMessage;
  readonly events: readonly EventDraft[];
}

/** The effects of an attempt: the recipient leaves the queue, waits again, or is held for review. */
export interface Completion extends RecordedEvents {
  /** Nothing is left to do for the recipient. */
  readonly done: boolean;
  readonly held: boolean;
  /** Undefined keeps the message's state, which is that of its To recipient. */
  readonly state: MessageState | undefined;
  /** By `performance.now()`. */
  readonly settledAt: number;
  /** Milliseconds until it is due again; undefined if it is done or held for review. */
  readonly dueIn: number | undefined;
  readonly reason: string | null;
  /** Fields to erase if no other recipient waits, so that the message is final; undefined for none. */
  readonly erased: readonly string[] | undefined;
  /** Whether other recipients may wait. */
  readonly hasOthers: boolean;
  /** True if nothing was tried, so the attempt doesn't count. */
  readonly released: boolean;
}

/**
 * Decides what the result of an attempt changes. This is the pure core of the state machine.
 * @param random 0 to 1, for the retry jitter
 */
export function settleAttempt(
  message: ClaimedMessage,
  { result, postponed, notes, secretFields, hasOthers = false }: AttemptResult,
  random: number,
): Completion {
  const settledAt = performance.now();
  const noted = notes.map(({ kind, ofRecipient, detail }) => ({
    id: newId(),
    happenedAt: settledAt,
    kind,
    recipient: ofRecipient === true ? message.recipient : null,
    detail,
  }));
  const shared = { message, settledAt, hasOthers };
  if (result === undefined)
    return {
      ...shared,
      done: false,
      held: false,
      state: undefined,
      dueIn: postponed?.delayMs ?? 0,
      reason: postponed?.reason ?? 'the service stopped before it was sent',
      events: noted,
      erased: undefined,
      released: true,
    };
  const held = isHeldForReview(message, result);
  const waits = !held && (result.outcome === 'deferred' || result.outcome === 'uncertain');
  const done = !held && !waits;
  const dueIn = waits ? retryDelayMs(message, result, random) : undefined;
  return {
    ...shared,
    done,
    held,
    state: message.recipient === 0 ? result.outcome : undefined,
    dueIn,
    reason: done ? null : result.reason,
    events: [
      ...noted,
      ...(result.recorded === true ? [] : [eventOf(message, result, dueIn, settledAt)]),
    ],
    erased: done ? secretFields : undefined,
    released: false,
  };
}

function isHeldForReview(message: ClaimedMessage, result: RecipientResult): boolean {
  if (result.outcome === 'failed') return true;
  return result.outcome === 'uncertain' && message.whenUncertain === 'hold';
}

/** At most until the message expires, when it is claimed once more and marked as expired. */
function retryDelayMs(
  message: ClaimedMessage,
  { retry = 'ordinary', retryAfter }: RecipientResult,
  random: number,
): number {
  const wait = retryDelay(retry, message.attempt, random, retryAfter) * 1_000;
  return Math.max(0, Math.min(wait, message.remainingMs));
}

/** The event that records a result. @param dueIn milliseconds until the retry */
function eventOf(
  { recipient, attempt }: ClaimedMessage,
  { outcome, reason, receiver, relayId, detail }: RecipientResult,
  dueIn: number | undefined,
  happenedAt: number,
): EventDraft {
  return {
    id: newId(),
    happenedAt,
    kind: outcome,
    recipient,
    ...(receiver !== undefined && { receiver }),
    ...(relayId !== undefined && { relayId }),
    detail: {
      attempt,
      reason,
      ...(dueIn !== undefined && { retryInSeconds: Math.round(dueIn / 1_000) }),
      ...detail,
    },
  };
}
