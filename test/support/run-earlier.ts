import type { TestClock } from './test-clock.ts';

/** How far the clock is set back. */
export const earlierSeconds = 10;
const earlierMs = earlierSeconds * 1_000;

/** Runs the work with the clock ten seconds back, so that a one-second delay is still running on any machine. */
export async function runEarlier<Result>(
  clock: TestClock,
  work: () => Promise<Result>,
): Promise<Result> {
  await clock.advance(-earlierMs);
  try {
    return await work();
  } finally {
    await clock.advance(earlierMs);
  }
}
