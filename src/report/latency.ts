/** Milliseconds from acceptance to delivery, within about 5 %. */
export interface LatencyPercentiles {
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

/** Adds up; all zero between two uses. A report can have thousands of histograms, so nothing is made anew for each. */
const sums = new Float64Array(2 ** 16);

/**
 * Adds histograms up.
 * @param histograms one after the other: each step in two bytes and its count in four, big-endian
 * @returns each step once, the lowest first
 */
export function addHistograms(histograms: Uint8Array): LatencyStep[] {
  const view = new DataView(histograms.buffer, histograms.byteOffset, histograms.byteLength);
  let minStep = sums.length;
  let maxStep = -1;
  for (let at = 0; at + stepBytes <= view.byteLength; at += stepBytes) {
    const step = view.getUint16(at);
    if (step < minStep) minStep = step;
    if (step > maxStep) maxStep = step;
    sums[step] = (sums[step] ?? 0) + view.getUint32(at + 2);
  }
  const steps: LatencyStep[] = [];
  for (let step = minStep; step <= maxStep; step += 1) {
    const count = sums[step] ?? 0;
    if (count > 0) steps.push({ step, count });
    sums[step] = 0;
  }
  return steps;
}

/**
 * Percentiles of a histogram, in milliseconds; undefined where it is empty.
 * @param steps the lowest first
 */
export function latencyOf(steps: readonly LatencyStep[]): LatencyPercentiles | undefined {
  let total = 0;
  for (const { count } of steps) total += count;
  if (total === 0) return undefined;
  const at = (share: number): number => {
    let seen = 0;
    for (const { step, count } of steps) {
      seen += count;
      if (seen >= share * total) return Math.round(2 ** (step / 8));
    }
    return 0;
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
