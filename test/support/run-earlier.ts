import type { TestClock } from './test-clock.ts';

/** How much earlier it is. */
export const earlierSeconds = 10;
const earlierMs = earlierSeconds * 1_000;

/** Does the work as if it were ten seconds earlier: within a delay of a second that has just begun, however slow the machine is. */
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
