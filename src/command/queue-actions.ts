/** Actions on queued messages, with their help texts. */
export const queueActions = {
  pause: 'pause queued messages; without --message, future ones too',
  resume: 'resume paused messages',
  cancel: 'cancel queued messages permanently',
  retry: 'retry messages now, including failed and held ones',
} as const;

export type QueueAction = keyof typeof queueActions;

export interface QueueCommandOptions {
  readonly account: string;
  readonly message?: string;
  readonly destination?: string;
}
