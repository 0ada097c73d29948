import type { Message, MessageLine } from '../api/management.generated.ts';

type MessageState = Message['state'];

interface StateView {
  /** True if the state can no longer change, neither automatically nor by an action. */
  readonly final: boolean;
  /** The color of the badge, which only reinforces its text. */
  readonly badge: string;
  readonly alert: string;
}

/** In display order. */
export const stateViews: Readonly<Record<MessageState, StateView>> = {
  queued: { final: false, badge: 'gray', alert: 'blue' },
  sending: { final: false, badge: 'blue', alert: 'blue' },
  deferred: { final: false, badge: 'yellow', alert: 'blue' },
  delivered: { final: true, badge: 'green', alert: 'green' },
  bounced: { final: true, badge: 'red', alert: 'red' },
  expired: { final: true, badge: 'orange', alert: 'orange' },
  failed: { final: false, badge: 'red', alert: 'red' },
  uncertain: { final: false, badge: 'grape', alert: 'grape' },
  suppressed: { final: true, badge: 'orange', alert: 'orange' },
  canceled: { final: true, badge: 'gray', alert: 'blue' },
};

export const shownStates = Object.keys(stateViews) as MessageState[];

export function isFinalMessageState(state: MessageState | undefined): boolean {
  return state !== undefined && stateViews[state].final;
}

/** What a message waits for besides its turn: a person who resumes it, its send time, or a worker that confirms its cancellation. */
export function waitOf({ nextAttempt, events }: Pick<Message, 'nextAttempt' | 'events'>) {
  if (nextAttempt === null) return undefined;
  if (events.some(({ kind }) => kind === 'cancel-asked')) return 'canceling';
  if (nextAttempt.paused !== null) return 'paused';
  return nextAttempt.reason === 'scheduled' ? 'scheduled' : undefined;
}

/** The same for a line of the message log. */
export function waitOfLine({ paused, reason, state }: MessageLine) {
  if (isFinalMessageState(state)) return undefined;
  if (paused) return 'paused';
  return reason === 'scheduled' ? 'scheduled' : undefined;
}

/** Whether too much was erased to show the message or to send it again. */
export function isContentErased({ content }: Pick<Message, 'content'>): boolean {
  if (content === null) return true;
  const erased = (content.erased ?? []) as readonly string[];
  return erased.includes('values') || Object.values(content.values ?? {}).includes(null);
}
