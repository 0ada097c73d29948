/**
 * Messages of each day of a warm-up: it begins with the first number and doubles every second day until it reaches the
 * goal, as `bin/signalpost domain warm-up` does. Afterwards nothing is limited.
 */
export function warmUpPlan(first: number, goal: number): number[] {
  const plan: number[] = [];
  for (let dayLimit = first; dayLimit < goal; dayLimit *= Math.SQRT2)
    plan.push(Math.round(dayLimit));
  return plan.length === 0 ? [first] : plan;
}

/** Which day of a plan a day is, both in UTC; below 0 before it begins. */
export function dayOfPlan(from: string, now = Date.now()): number {
  return Math.floor((now - Date.parse(`${from}T00:00:00Z`)) / 86_400_000);
}
