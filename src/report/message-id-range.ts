/** The lowest UUID v7 of a time (RFC 9562 section 5.7): ids of messages begin with their milliseconds. */
export function lowestId(time: Date): string {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, '0').slice(-12);
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The time of a UUID v7. */
export function timeOf(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

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
