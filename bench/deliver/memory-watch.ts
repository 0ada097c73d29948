import type { BenchProgram } from '../bench-program.ts';
import { readResident } from '../machine-use.ts';
import { median } from '../median.ts';
import { processTree } from '../process-tree.ts';

const sampleIntervalMs = 250;

/** Samples what all processes of a node hold, in megabytes. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #samples: number[] = [];

  constructor({ pid }: BenchProgram) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#sample(), sampleIntervalMs);
  }

  /** Median and peak since the last call. */
  readAndReset(): { readonly median: number; readonly peak: number } {
    this.#sample();
    const samples = this.#samples;
    this.#samples = [];
    return { median: median(samples), peak: Math.max(...samples) };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const sizes = readResident(processTree(this.#pid)).values();
    this.#samples.push(sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20);
  }
}
