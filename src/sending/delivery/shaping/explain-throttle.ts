/** Formats a rate: `40/min`, `2.5/s`. */
export function formatRate(perSecond: number): string {
  if (perSecond >= 10) return `${Math.round(perSecond)}/s`;
  if (perSecond >= 2) return `${perSecond.toFixed(1)}/s`;
  const perMinute = perSecond * 60;
  return `${perMinute >= 10 ? Math.round(perMinute) : perMinute.toFixed(1)}/min`;
}

/** `12:03` in UTC, with seconds for near times. */
export function formatUtcTime(time: number, now: number): string {
  const text = new Date(time).toISOString();
  return Math.abs(time - now) < 60_000 ? text.slice(11, 19) : text.slice(11, 16);
}

export interface ThrottleFacts {
  readonly label: string;
  readonly rate: number;
  readonly slowedAt: number | undefined;
  /** Formatted for display. */
  readonly next: string;
  readonly now: number;
}

/** Part of a throttled message's reason, after the receiver's label. */
export const throttledPhrase = 'throttled us at';

/** `waiting: Gmail throttled us at 12:03, 40/min now, next at 12:07 (UTC)` */
export function explainThrottle({ label, rate, slowedAt, next, now }: ThrottleFacts): string {
  const why =
    slowedAt === undefined
      ? `the rate limit of ${label} is still being learned`
      : `${label} ${throttledPhrase} ${formatUtcTime(slowedAt, now)}`;
  return `waiting: ${why}, ${formatRate(rate)} now, next at ${next} (UTC)`;
}
