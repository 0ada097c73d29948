const final: ReadonlySet<string> = new Set([
  'delivered',
  'bounced',
  'expired',
  'suppressed',
  'canceled',
]);

/** Whether nothing more comes of a message by itself or by hand. */
export function isFinal(state: string | undefined): boolean {
  return state !== undefined && final.has(state);
}
