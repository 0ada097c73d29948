import { formatterOf } from './formats.ts';

/** Formats times in the browser's time zone and the person's formats. */
const full = formatterOf(
  (locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }),
);
const exact = formatterOf(
  (locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' }),
);
const clock = formatterOf((locale) => new Intl.DateTimeFormat(locale, { timeStyle: 'medium' }));
const day = formatterOf((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }));
const shortDay = formatterOf(
  (locale) => new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' }),
);
const shortTime = formatterOf(
  (locale) => new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' }),
);
const minute = formatterOf(
  (locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }),
);
const zoned = formatterOf(
  (locale) =>
    new Intl.DateTimeFormat(locale, {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: 'numeric',
      minute: '2-digit',
      timeZoneName: 'short',
    }),
);
const relative = formatterOf((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));
const briefly = formatterOf((locale) => new Intl.RelativeTimeFormat(locale, { style: 'narrow' }));

/** The time only if it is today; otherwise date and time. */
export function formatTime(value: string): string {
  const time = new Date(value);
  return time.toDateString() === new Date().toDateString()
    ? clock().format(time)
    : full().format(time);
}

/** The time without its date. */
export function formatClock(value: string): string {
  return clock().format(new Date(value));
}

/** Date and time, also of today. */
export function formatDateAndTime(value: string): string {
  return full().format(new Date(value));
}

/** Date and time without seconds. */
export function formatToMinute(value: string): string {
  return minute().format(new Date(value));
}

/** Date and time without seconds, with the time zone. */
export function formatToMinuteInZone(value: string): string {
  return zoned().format(new Date(value));
}

/** The exact time with weekday and time zone. */
export function formatExactTime(value: string): string {
  return exact().format(new Date(value));
}

export function formatDay(value: string): string {
  return day().format(new Date(value));
}

/** A day without its year. */
export function formatShortDay(at: Date | number): string {
  return shortDay().format(at);
}

/** Days such as “Sep 29 – Oct 28”; `until` isn't included. */
export function formatDays(from: string, until: string): string {
  return shortDay().formatRange(new Date(from), new Date(Date.parse(until) - 1));
}

/** A time without its day and seconds. */
export function formatShortTime(at: Date | number): string {
  return shortTime().format(at);
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
