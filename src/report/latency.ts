/** Milliseconds from acceptance to delivery, within about 5 %. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** How many messages took 2^(step/8) milliseconds. */
export interface LatencyStep {
  readonly step: number;
  readonly count: number;
}

/** Percentiles of a histogram, in milliseconds; undefined where it is empty. */
export function latencyOf(steps: readonly LatencyStep[]): Latency | undefined {
  const total = steps.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return undefined;
  const sorted = [...steps].sort((a, b) => a.step - b.step);
  const at = (share: number): number => {
    let seen = 0;
    for (const { step, count } of sorted) {
      seen += count;
      if (seen >= share * total) return Math.round(2 ** (step / 8));
    }
    return 0;
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
