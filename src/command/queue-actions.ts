/** What can be done to waiting messages, as the help says it. */
export const queueActions = {
  pause: 'keeps them from being sent; without --message, also what comes later',
  resume: 'ends a pause',
  cancel: 'withdraws them for good',
  retry: 'makes them due now, also those that failed or wait for a person',
} as const;

export type QueueAction = keyof typeof queueActions;

export interface QueueCommandOptions {
  readonly account: string;
  readonly message?: string;
  readonly destination?: string;
}
