/**
 * When a message that could not be handed over is tried again: seconds to wait after the first, second, … attempt. The
 * last value holds for all later ones. RFC 5321 section 4.5.4.1 asks for at least 30 minutes in general and for less in
 * the first hour, where most causes pass; `connection` stays short because a relay that is back should find its mail at
 * once, and `greylist` because greylisting servers accept from 1 to 5 minutes on (RFC 6647 section 2).
 */
export const retrySchedules = {
  /** A 4yz reply that says nothing more. */
  ordinary: [60, 300, 600, 1_200, 1_800, 3_600, 7_200, 10_800, 14_400, 21_600],
  /** The server asks for a second try by the same client. */
  greylist: [65, 240, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400],
  /** No connection, no name, no TLS, no reply. */
  connection: [10, 20, 40, 60, 120, 300, 300, 600, 600, 900, 1_800],
  /** The server wants less mail from us. */
  throttled: [120, 300, 600, 900, 1_800, 3_600, 7_200],
  /** The mailbox is full; its owner must act. */
  full: [1_800, 3_600, 7_200, 14_400, 21_600],
  /** The final dot left and no reply came: the receiver may be working on it still. */
  uncertain: [60, 300, 900, 1_800, 3_600, 7_200, 14_400],
} as const satisfies Record<string, readonly number[]>;

export type RetryKind = keyof typeof retrySchedules;

/** Waits differ by up to this part of themselves, so that what failed together does not come back together. */
export const jitter = 0.2;

const maxRequestedSeconds = 6 * 3_600;

/**
 * Seconds to wait after an attempt.
 * @param attempt counts from 1
 * @param random 0 to 1
 * @param requestedSeconds seconds that the receiver named; believed up to 6 hours where it is longer than the schedule's
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
