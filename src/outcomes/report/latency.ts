/** Milliseconds from acceptance to delivery, accurate to about 5%. */
export interface LatencyPercentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Number of messages that took 2^(step/8) milliseconds. */
export interface LatencyStep {
  readonly step: number;
  readonly count: number;
}

const stepBytes = 6;

/**
 * Reusable accumulator, all zero between calls. Reports can have thousands of histograms, so this avoids an allocation
 * for each.
 */
const sums = new Float64Array(2 ** 16);

/**
 * Adds up histograms.
 * @param histograms concatenated; each step is two bytes and its count four, big-endian
 * @returns each step once, lowest first
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
 * Percentiles of a histogram, in milliseconds; undefined if it is empty.
 * @param steps lowest first
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
