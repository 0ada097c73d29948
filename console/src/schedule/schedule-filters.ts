/** Filters of the scheduled messages, kept in the page URL. */
export interface ScheduleFilters {
  readonly tag?: string;
  readonly externalId?: string;
}

const scheduleFilterNames = ['tag', 'externalId'] as const;

/** Parses filters from the URL and ignores invalid ones. */
export function readScheduleFilters(search: Readonly<Record<string, unknown>>): ScheduleFilters {
  const filters: Record<string, string> = {};
  for (const name of scheduleFilterNames) {
    const value = search[name];
    // The router parses numbers in URLs, and an external ID may look like one.
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text === 'string' && text.trim() !== '') filters[name] = text.trim();
  }
  return filters;
}

/** The filter by which all messages can be changed at once; undefined unless there is exactly one. */
export function selectionOf(
  filters: ScheduleFilters,
): { readonly tag: string } | { readonly externalId: string } | undefined {
  const { tag, externalId } = filters;
  if (tag !== undefined) return externalId === undefined ? { tag } : undefined;
  return externalId === undefined ? undefined : { externalId };
}

/** The value of a field for date and time, in the browser's time zone. */
export function toLocalInput(value: string): string {
  const time = new Date(value);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
