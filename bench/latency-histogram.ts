const steps = 100_000;
const stepsPerMs = 10;

/** Counts latencies in steps of 0.1 ms up to 10 s, so that those of several runs can be put together. */
export class LatencyHistogram {
  readonly counts: number[] = [];

  add(latencyMs: number): void {
    const step = Math.min(steps, Math.floor(latencyMs * stepsPerMs));
    while (this.counts.length <= step) this.counts.push(0);
    this.counts[step] = (this.counts[step] ?? 0) + 1;
  }

  merge(counts: readonly number[]): void {
    while (this.counts.length < counts.length) this.counts.push(0);
    counts.forEach((count, step) => {
      this.counts[step] = (this.counts[step] ?? 0) + count;
    });
  }

  /** The upper end, in milliseconds, of the step that holds this share (0 to 1) of all latencies. */
  quantile(share: number): number {
    const total = this.counts.reduce((sum, count) => sum + count, 0);
    let seen = 0;
    const step = this.counts.findIndex((count) => {
      seen += count;
      return seen >= total * share;
    });
    return (step + 1) / stepsPerMs;
  }
}
