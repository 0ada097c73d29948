/** The regions whose dates and numbers a person can choose for the English console. */
export const personFormats = ['en-US', 'en-GB', 'en-DE', 'en-SE', 'en-IN'] as const;

export type PersonFormats = (typeof personFormats)[number];

export const defaultFormats: PersonFormats = 'en-US';

export function isPersonFormats(text: string | undefined): text is PersonFormats {
  return (personFormats as readonly (string | undefined)[]).includes(text);
}

/** A time in a person's formats and a time zone, such as `Nov 25, 2026, 3:42 PM EST`. */
export function formatPersonTime(time: Date, formats: PersonFormats, timeZone: string): string {
  return new Intl.DateTimeFormat(formats, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZone,
    timeZoneName: 'short',
  }).format(time);
}
