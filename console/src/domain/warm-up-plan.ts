/**
 * Daily limits of a warm-up: start with the first number and double every second day up to the goal, like
 * `bin/signalpost domain warm-up`. Afterwards there is no limit.
 */
export function warmUpPlan(first: number, goal: number): number[] {
  const plan: number[] = [];
  for (let dayLimit = first; dayLimit < goal; dayLimit *= Math.SQRT2)
    plan.push(Math.round(dayLimit));
  return plan.length === 0 ? [first] : plan;
}

/** The index of a day in a plan, both in UTC; negative before it starts. */
export function dayOfPlan(from: string, now = Date.now()): number {
  return Math.floor((now - Date.parse(`${from}T00:00:00Z`)) / 86_400_000);
}
