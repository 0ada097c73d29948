/** Actions on queued messages, as described in the help. */
export const queueActions = {
  pause: 'holds messages back; without --message, future ones too',
  resume: 'ends a pause',
  cancel: 'cancels messages permanently',
  retry: 'makes messages due now, including failed and held ones',
} as const;

export type QueueAction = keyof typeof queueActions;

export interface QueueCommandOptions {
  readonly account: string;
  readonly message?: string;
  readonly destination?: string;
}
