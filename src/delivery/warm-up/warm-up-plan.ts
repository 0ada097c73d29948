import type { WarmUpSchedule } from '../../sender/sending-domain.ts';

const dayMs = 86_400_000;

/** The UTC day of a time: `2026-03-01`. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Messages that may leave on a day; undefined where the plan is over. Before its first day, nothing may. */
export function allowance({ from, plan }: WarmUpSchedule, day: string): number | undefined {
  const place = Math.round((Date.parse(day) - Date.parse(from)) / dayMs);
  if (place < 0) return 0;
  return place < plan.length ? (plan[place] ?? 0) : undefined;
}

/** Shares are asked for at least so often, in milliseconds: a person may change the plan. */
const maxQuotaDelayMs = 3_600_000;

/**
 * How long a message waits whose day's share is used up, in milliseconds: until some time after the next day in UTC has
 * begun, so that those who wait do not come back all at once.
 * @param random 0 to 1
 */
export function quotaDelayMs(now: number, random: number): number {
  const untilTomorrow = dayMs - (now % dayMs);
  return Math.min(untilTomorrow, maxQuotaDelayMs) * (1 + random / 2);
}

/**
 * A usual plan: it begins with `first` messages and doubles every second day until it reaches `goal`, so that receivers
 * see a new sender grow instead of appear.
 */
export function defaultWarmUpPlan(goal: number, first = 50): number[] {
  const plan: number[] = [];
  for (let limit = first; limit < goal; limit *= Math.SQRT2) plan.push(Math.round(limit));
  return plan;
}
