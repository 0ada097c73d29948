/** Formats times in the browser's time zone and locale. */
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const exact = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'full',
  timeStyle: 'long',
});
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

/** The time only if it is today; otherwise date and time. */
export function formatTime(value: string): string {
  const time = new Date(value);
  return time.toDateString() === new Date().toDateString() ? clock.format(time) : full.format(time);
}

/** The exact time with weekday and time zone. */
export function formatExactTime(value: string): string {
  return exact.format(new Date(value));
}

export function formatDay(value: string): string {
  return day.format(new Date(value));
}

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** Such as `3 minutes ago` or `in 2 hours`. */
export function formatDistance(value: string, now = Date.now()): string {
  const seconds = (new Date(value).getTime() - now) / 1_000;
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return relative.format(0, 'second');
}
