import { lowestId, timeOf } from '../foundation/uuid7.ts';

const days = 24 * 60 * 60 * 1_000;
const recent = 14 * days;

/**
 * Where to look at first: what is looked for is mostly of the last days, and only the partitions of the time that is looked
 * at are planned and opened.
 * @param before the end of the range
 * @returns the begin of its last days, or `lowest` where that is later
 */
export function recentFrom(lowest: string, before: string | undefined): string {
  const end = Math.min(
    before === undefined ? Number.POSITIVE_INFINITY : timeOf(before).getTime(),
    Date.now(),
  );
  const from = lowestId(new Date(end - recent));
  return from < lowest ? lowest : from;
}
