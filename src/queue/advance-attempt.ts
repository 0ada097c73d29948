import { isFinalState, type MessageState } from '../message/message-state.ts';
import type { EventDraft } from '../message/write-events.ts';
import type { ClaimedMessage, RecordableResult } from './attempt.ts';
import { eventOf } from './settle-attempt.ts';

/** Changes to record between two transactions of an attempt. */
export interface AttemptProgress {
  readonly message: ClaimedMessage;
  /** Recipients not yet settled. */
  readonly pending: readonly number[];
  /** Recipients of the next transaction: the only ones the next final dot can make uncertain. */
  readonly next: readonly number[];
  /** Recipients for which an earlier dot may have been sent. */
  readonly doubtful: readonly number[];
  /** Undefined keeps the message's state. */
  readonly state: MessageState | undefined;
  readonly events: readonly EventDraft[];
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
