import { formatterOf } from './formats.ts';

/** Formats times in the browser's time zone and the person's formats. */
function timeFormat(options: Intl.DateTimeFormatOptions): (at: string | number | Date) => string {
  const formatter = formatterOf((locale) => new Intl.DateTimeFormat(locale, options));
  return (at) => formatter().format(new Date(at));
}

const dayOnly = { month: 'short', day: 'numeric' } as const;
const shortDay = formatterOf((locale) => new Intl.DateTimeFormat(locale, dayOnly));
const relative = formatterOf((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));
const briefly = formatterOf((locale) => new Intl.RelativeTimeFormat(locale, { style: 'narrow' }));

/** The time without its date. */
export const formatClock = timeFormat({ timeStyle: 'medium' });

/** Date and time, also of today. */
export const formatDateAndTime = timeFormat({ dateStyle: 'medium', timeStyle: 'medium' });

/** Date and time without seconds. */
export const formatToMinute = timeFormat({ dateStyle: 'medium', timeStyle: 'short' });

/** Date and time without seconds, with the time zone. */
export const formatToMinuteInZone = timeFormat({
  year: 'numeric',
  ...dayOnly,
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
});

/** The exact time with weekday and time zone. */
export const formatExactTime = timeFormat({ dateStyle: 'full', timeStyle: 'long' });

export const formatDay = timeFormat({ dateStyle: 'medium' });

/** A day without its year. */
export const formatShortDay = timeFormat(dayOnly);

/** A time without its day and seconds. */
export const formatShortTime = timeFormat({ hour: 'numeric', minute: '2-digit' });

/** The time only if it is today; otherwise date and time. */
export function formatTime(value: string): string {
  const isToday = new Date(value).toDateString() === new Date().toDateString();
  return (isToday ? formatClock : formatDateAndTime)(value);
}

/** Days such as “Sep 29 – Oct 28”; `until` isn't included. */
export function formatDays(from: string, until: string): string {
  return shortDay().formatRange(new Date(from), new Date(Date.parse(until) - 1));
}

/** Each unit with its seconds, from where on it is used: where the next smaller one would be rounded up to it. */
const units = [
  ['hour', 3_600, 3_570],
  ['minute', 60, 59.5],
  ['second', 1, 0],
] as const;

/** Such as `3 minutes ago` or `in 2 hours`; from 24 hours on in calendar days of the browser's time zone. */
export function formatDistance(value: string, now = Date.now(), format = relative): string {
  const seconds = (new Date(value).getTime() - now) / 1_000;
  if (Math.abs(seconds) >= 86_400)
    return format().format(calendarDay(new Date(value)) - calendarDay(new Date(now)), 'day');
  const [unit, size] = units.find(([, , from]) => Math.abs(seconds) >= from) ?? units[2];
  return format().format(Math.round(seconds / size), unit);
}

/** Such as `in 19s`. */
export function formatBriefDistance(value: string): string {
  return formatDistance(value, Date.now(), briefly);
}

/** A number that is one more on the next day, whatever the clocks do in between. */
function calendarDay(time: Date): number {
  return Date.UTC(time.getFullYear(), time.getMonth(), time.getDate()) / 86_400_000;
}
