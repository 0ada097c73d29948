import { minIdAt, timeOfId } from '../foundation/uuid7.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const recentMs = 14 * dayMs;

/**
 * Start with recent messages: most searches want the last few days, and a short range makes PostgreSQL plan and open
 * fewer partitions.
 * @param before end of the range
 * @returns start of its last days, or `minId` if that is later
 */
export function recentFrom(minId: string, before: string | undefined): string {
  const end = Math.min(
    before === undefined ? Number.POSITIVE_INFINITY : timeOfId(before).getTime(),
    Date.now(),
  );
  const from = minIdAt(new Date(end - recentMs));
  return from < minId ? minId : from;
}
