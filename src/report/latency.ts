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

const stepBytes = 6;

/**
 * Adds histograms up.
 * @param histograms one after the other: each step in two bytes and its count in four, big-endian
 * @returns each step once, the lowest first
 */
export function addHistograms(histograms: Buffer): LatencyStep[] {
  const counts = new Map<number, number>();
  for (let at = 0; at + stepBytes <= histograms.length; at += stepBytes) {
    const step = histograms.readUInt16BE(at);
    counts.set(step, (counts.get(step) ?? 0) + histograms.readUInt32BE(at + 2));
  }
  return [...counts].map(([step, count]) => ({ step, count })).sort((a, b) => a.step - b.step);
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
