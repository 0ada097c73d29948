import type { WarmUpSchedule } from '../../../accounts/sender/sending-domain.ts';

const dayMs = 86_400_000;

/** The UTC day of a time: `2026-03-01`. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** The daily limit; undefined once the plan has ended. Nothing may be sent before its first day. */
export function allowance({ from, plan }: WarmUpSchedule, day: string): number | undefined {
  const index = Math.round((Date.parse(day) - Date.parse(from)) / dayMs);
  if (index < 0) return 0;
  return index < plan.length ? (plan[index] ?? 0) : undefined;
}

/** Max delay before the limit is rechecked, in milliseconds, because the plan may be changed. */
const maxQuotaDelayMs = 3_600_000;

/**
 * How long a message waits once today's limit is reached, in milliseconds: until a random time early in the next UTC
 * day, so that waiting messages don't all return at once.
 * @param random 0 to 1
 */
export function quotaDelayMs(now: number, random: number): number {
  const untilTomorrow = dayMs - (now % dayMs);
  return Math.min(untilTomorrow, maxQuotaDelayMs) * (1 + random / 2);
}

/**
 * The default plan: starts at `first` messages and doubles every two days up to `goal`, so that receivers see a new
 * sender grow gradually.
 */
export function defaultWarmUpPlan(goal: number, first = 50): number[] {
  const plan: number[] = [];
  for (let limit = first; limit < goal; limit *= Math.SQRT2) plan.push(Math.round(limit));
  return plan;
}
