/** What each row of a report represents. */
export const reportGroups = [
  'none',
  'hour',
  'day',
  'template',
  'locale',
  'tag',
  'sender',
  'destination',
] as const;
/** Stands for the template's own content among locales of variants. */
export const defaultContent = 'default';

export type ReportGrouping = (typeof reportGroups)[number];

export interface ReportQuery {
  readonly from: Date;
  readonly until: Date;
  readonly group: ReportGrouping;
  /** Time zone for days and hours, such as `Europe/Berlin`. */
  readonly timeZone: string;
  readonly templateId?: string | undefined;
  /**
   * Of the variant that was sent, or `defaultContent`. Can't be combined with the filters below: locales are counted by
   * template only.
   */
  readonly locale?: string | undefined;
  readonly tag?: string | undefined;
  readonly senderDomain?: string | undefined;
  /** Can't be combined with any other filter: destinations are counted separately. */
  readonly destinationDomain?: string | undefined;
}

/** Excludes ICU's own names, which PostgreSQL doesn't know. */
const timeZonePattern =
  /^(?:UTC|(?!systemv\/|us\/pacific-new$)[a-z]\w{1,20}(?:\/[\w+-]{1,30}){1,2})$/i;

/**
 * Parses a time zone named after a place. PostgreSQL treats other names as abbreviations: CET has no daylight saving
 * time, and IST means Israel.
 * @returns undefined if the text isn't a supported time zone
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
