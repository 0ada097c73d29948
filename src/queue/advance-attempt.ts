import { isFinalState, type MessageState } from '../message/message-state.ts';
import type { EventDraft } from '../message/write-events.ts';
import type { ClaimedMessage, RecipientResult } from './attempt.ts';
import { eventOf } from './settle-attempt.ts';

/** What the finished transactions of an attempt change before the next one begins. */
export interface AttemptProgress {
  readonly message: ClaimedMessage;
  /** Recipients that still have to be settled. */
  readonly pending: readonly number[];
  /** Recipients of the next transaction: the only ones that a final dot makes uncertain from now on. */
  readonly next: readonly number[];
  /** Recipients for which an earlier dot may have left. */
  readonly doubtful: readonly number[];
  /** Undefined: the message's state stays. */
  readonly state: MessageState | undefined;
  readonly events: readonly EventDraft[];
  /** What is not settled by this, for the report at the end. */
  readonly remaining: readonly RecipientResult[];
}

/**
 * Decides what is written between two transactions of an attempt: what is final is settled, what is uncertain is on
 * record; what will be tried again waits for the end of the attempt, since its next time is that of the whole message.
 */
export function advanceAttempt(
  message: ClaimedMessage,
  results: readonly RecipientResult[],
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
