import type { Message } from '../api/management.generated.ts';

type MessageState = Message['state'];

/** Each state, in the order in which people choose from them: whether nothing more comes of a message by itself or by hand. */
const isFinal: Readonly<Record<MessageState, boolean>> = {
  queued: false,
  sending: false,
  deferred: false,
  delivered: true,
  bounced: true,
  expired: true,
  failed: false,
  uncertain: false,
  suppressed: true,
  canceled: true,
};

export const shownStates = Object.keys(isFinal) as MessageState[];

export function isFinalMessageState(state: MessageState | undefined): boolean {
  return state !== undefined && isFinal[state];
}
