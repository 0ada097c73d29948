/** What the rows of a report are. */
export const reportGroups = [
  'none',
  'hour',
  'day',
  'template',
  'tag',
  'sender',
  'destination',
] as const;
export type ReportGrouping = (typeof reportGroups)[number];

export interface ReportQuery {
  readonly from: Date;
  readonly until: Date;
  readonly group: ReportGrouping;
  /** Of days and hours, such as `Europe/Berlin`. */
  readonly timeZone: string;
  readonly templateId?: string | undefined;
  readonly tag?: string | undefined;
  readonly senderDomain?: string | undefined;
  /** Not together with the filters above: destinations are counted by themselves. */
  readonly destinationDomain?: string | undefined;
}

/** ICU's own names are not among those that PostgreSQL knows. */
const timeZonePattern =
  /^(?:UTC|(?!systemv\/|us\/pacific-new$)[a-z]\w{1,20}(?:\/[\w+-]{1,30}){1,2})$/i;

/**
 * A time zone that can be counted in, by the name of its place. PostgreSQL takes a name without a place for an abbreviation,
 * if it knows it at all: CET has no summer there, and IST is the time of Israel.
 * @returns undefined for what is no time zone
 */
export function parseTimeZone(text: string): string | undefined {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions();
    const place = text.includes('/') ? text : timeZone;
    return timeZonePattern.test(place) ? place : undefined;
  } catch {
    return undefined;
  }
}
