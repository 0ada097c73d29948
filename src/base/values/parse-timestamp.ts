/**
 * Parses a timestamp; undefined if invalid. Also rejects invalid calendar dates, which `Date` would move to the next month.
 */
export function parseTimestamp(text: string): Date | undefined {
  const timestamp = new Date(text);
  if (Number.isNaN(timestamp.getTime())) return undefined;
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? [];
  return day === undefined || new Date(day).toISOString().startsWith(day) ? timestamp : undefined;
}
