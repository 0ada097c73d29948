const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

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

/** A short age, such as minutes or hours; the date in the time zone from the day before yesterday on. */
export function formatAge(time: Date, now: Date, timeZone: string): string {
  const age = now.getTime() - time.getTime();
  if (age < minuteMs) return 'now';
  if (age < hourMs) return `${Math.floor(age / minuteMs)} min`;
  const [from, today] = [midnight(time, timeZone), midnight(now, timeZone)];
  const days = (today.getTime() - from.getTime()) / (24 * hourMs);
  if (days <= 0 || age < 12 * hourMs) return `${Math.floor(age / hourMs)} h`;
  if (days === 1) return 'yesterday';
  const year = from.getUTCFullYear() === today.getUTCFullYear() ? undefined : 'numeric';
  return new Intl.DateTimeFormat('en-US', {
    day: 'numeric',
    month: 'short',
    year,
    timeZone,
  }).format(time);
}

/** The day of a time in the time zone, as its midnight in UTC. */
function midnight(time: Date, timeZone: string): Date {
  // Sweden writes days as ISO 8601 does.
  return new Date(new Intl.DateTimeFormat('sv-SE', { timeZone }).format(time));
}
