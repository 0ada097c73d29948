const finalStates: ReadonlySet<string> = new Set([
  'delivered',
  'bounced',
  'expired',
  'suppressed',
  'canceled',
]);

/** Whether a message can no longer change state. */
export function isFinalMessageState(state: string | undefined): boolean {
  return state !== undefined && finalStates.has(state);
}
