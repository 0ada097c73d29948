/**
 * Retry delays in seconds after the first, second, … attempt; the last value repeats. RFC 5321 section 4.5.4.1 asks for
 * at least 30 minutes in general, but shorter delays in the first hour, when most causes clear.
 */
export const retrySchedules = {
  /** A 4yz reply without further detail. */
  ordinary: [60, 300, 600, 1_200, 1_800, 3_600, 7_200, 10_800, 14_400, 21_600],
  /** Greylisting: the server accepts a retry by the same client after 1 to 5 minutes (RFC 6647 section 2). */
  greylist: [65, 240, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400],
  /** Connection, DNS or TLS failure, or no reply. Stays short so that a relay gets its mail as soon as it recovers. */
  connection: [10, 20, 40, 60, 120, 300, 300, 600, 600, 900, 1_800],
  /** The server throttles us. */
  throttled: [120, 300, 600, 900, 1_800, 3_600, 7_200],
  /** The mailbox is full; its owner must act. */
  full: [1_800, 3_600, 7_200, 14_400, 21_600],
  /** The final dot was sent but no reply came; the receiver may still be processing it. */
  uncertain: [60, 300, 900, 1_800, 3_600, 7_200, 14_400],
} as const satisfies Record<string, readonly number[]>;

export type RetryKind = keyof typeof retrySchedules;

/** Relative jitter, so that messages that failed together don't retry together. */
export const jitter = 0.2;

const maxRequestedSeconds = 6 * 3_600;

/**
 * Seconds to wait after an attempt.
 * @param attempt counts from 1
 * @param random 0 to 1
 * @param requestedSeconds delay the receiver asked for; if longer than the schedule's, honored up to 6 hours
 */
export function retryDelay(
  kind: RetryKind,
  attempt: number,
  random: number,
  requestedSeconds = 0,
): number {
  const schedule: readonly number[] = retrySchedules[kind];
  const index = Math.min(Math.max(Math.trunc(attempt) || 1, 1), schedule.length) - 1;
  const planned = schedule[index] ?? 3_600;
  const wait = Math.max(planned, Math.min(Math.max(requestedSeconds, 0), maxRequestedSeconds));
  return wait * (1 + jitter * random);
}
