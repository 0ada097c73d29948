import { median } from '../median.ts';
import type { BenchNode } from './start-serve.ts';

const sampleIntervalMs = 250;

/** Samples what all processes of a node hold, in megabytes. */
export class MemoryWatch {
  #samples: number[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(node: BenchNode) {
    this.#timer = setInterval(() => {
      void node.memory().then((size) => this.#samples.push(size));
    }, sampleIntervalMs);
  }

  /** Median and peak since the last call. */
  readAndReset(): { readonly median: number; readonly peak: number } {
    const samples = this.#samples;
    this.#samples = [];
    return { median: median(samples), peak: Math.max(0, ...samples) };
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
