const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const thisYear = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short' });
const otherYear = new Intl.DateTimeFormat('en-US', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});

/** The full date and time with the name of the time zone. */
export function formatFullTime(time: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-US', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    second: '2-digit',
    timeZone,
    timeZoneName: 'short',
  }).format(time);
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
