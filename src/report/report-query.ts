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
export type ReportGroup = (typeof reportGroups)[number];

export interface ReportQuery {
  readonly from: Date;
  readonly until: Date;
  readonly group: ReportGroup;
  /** Of days and hours, such as `Europe/Berlin`. */
  readonly timeZone: string;
  readonly templateId?: string | undefined;
  readonly tag?: string | undefined;
  readonly senderDomain?: string | undefined;
  /** Not together with the filters above: destinations are counted by themselves. */
  readonly destinationDomain?: string | undefined;
}

/** True for a time zone that can be counted in. */
export function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return /^[A-Za-z][\w+/-]{1,50}$/.test(text);
  } catch {
    return false;
  }
}
