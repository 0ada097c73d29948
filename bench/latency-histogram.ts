const steps = 100_000;
const stepsPerMs = 10;

/** Counts latencies in steps of 0.1 ms up to 10 s. Its counts are JSON, so processes can pass it on. */
export class LatencyHistogram {
  readonly counts: number[] = [];

  add(latencyMs: number, count = 1): void {
    const step = Math.min(steps, Math.floor(latencyMs * stepsPerMs));
    while (this.counts.length <= step) this.counts.push(0);
    this.counts[step] = (this.counts[step] ?? 0) + count;
  }

  merge(counts: readonly number[]): void {
    for (const [step, count] of counts.entries()) this.add((step + 0.5) / stepsPerMs, count);
  }

  get percentiles() {
    return { p50_ms: this.#quantile(0.5), p99_ms: this.#quantile(0.99) };
  }

  /** The upper end, in milliseconds, of the step that holds this share (0 to 1) of all latencies. */
  #quantile(share: number): number {
    const total = this.counts.reduce((sum, count) => sum + count, 0);
    let seen = 0;
    const step = this.counts.findIndex((count) => {
      seen += count;
      return seen >= total * share;
    });
    return (step + 1) / stepsPerMs;
  }
}
