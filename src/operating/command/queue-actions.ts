/** Actions on queued messages, with their help texts. */
export const queueActions = {
  pause: 'pause a message, or all queued and future ones',
  resume: 'resume a message, or all paused ones',
  cancel: 'cancel a message, or all queued ones, permanently',
  retry: 'retry a message, or all of them, now; includes failed and held ones',
} as const;

export type QueueAction = keyof typeof queueActions;

export interface QueueCommandOptions {
  readonly account?: string;
  readonly message?: string;
  readonly destination?: string;
  readonly json?: boolean;
}
