const finalStates: ReadonlySet<string> = new Set([
  'delivered',
  'bounced',
  'expired',
  'suppressed',
  'canceled',
]);

/** Whether nothing more comes of a message by itself or by hand. */
export function isFinalMessageState(state: string | undefined): boolean {
  return state !== undefined && finalStates.has(state);
}
