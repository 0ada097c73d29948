import type { Message } from '../api/management.generated.ts';

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

/** Paused in whatever way. */
export function isPaused({ nextAttempt }: Pick<Message, 'nextAttempt'>): boolean {
  return nextAttempt !== null && nextAttempt.paused !== null;
}
