/** What can be done to waiting messages, as the help says it. */
export const queueActions = {
  pause: 'hold messages back; without --message, later ones too',
  resume: 'end a pause',
  cancel: 'cancel messages permanently',
  retry: 'retry messages now, including failed and held ones',
} as const;

export type QueueAction = keyof typeof queueActions;

export interface QueueCommandOptions {
  readonly account: string;
  readonly message?: string;
  readonly destination?: string;
}
