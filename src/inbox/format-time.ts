const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const exact = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});
const thisYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const otherYear = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});

/** The full date and time with time zone, in the time zone of the service. */
export function formatFullTime(time: Date): string {
  return exact.format(time);
}

/** A short age, such as minutes or hours; the date from the day before yesterday on. */
export function formatAge(time: Date, now: Date): string {
  const age = now.getTime() - time.getTime();
  if (age < minuteMs) return 'now';
  if (age < hourMs) return `${Math.floor(age / minuteMs)} min`;
  const days = calendarDays(time, now);
  if (days <= 0 || age < 12 * hourMs) return `${Math.floor(age / hourMs)} h`;
  if (days === 1) return 'yesterday';
  return (time.getFullYear() === now.getFullYear() ? thisYear : otherYear).format(time);
}

function calendarDays(from: Date, to: Date): number {
  const midnight = (time: Date): number =>
    Date.UTC(time.getFullYear(), time.getMonth(), time.getDate());
  return (midnight(to) - midnight(from)) / (24 * hourMs);
}
