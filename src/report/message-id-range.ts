import { minIdAt, timeOfId } from '../foundation/uuid7.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const recentMs = 14 * dayMs;

/**
 * Where to look at first: what is looked for is mostly of the last days, and only the partitions of the time that is looked
 * at are planned and opened.
 * @param before the end of the range
 * @returns the begin of its last days, or `lowest` where that is later
 */
export function recentFrom(minId: string, before: string | undefined): string {
  const end = Math.min(
    before === undefined ? Number.POSITIVE_INFINITY : timeOfId(before).getTime(),
    Date.now(),
  );
  const from = minIdAt(new Date(end - recentMs));
  return from < minId ? minId : from;
}
