import { processTree, readResident } from './machine-use.ts';
import { median } from './percentile.ts';

const sampleIntervalMs = 250;

/** Samples the resident memory of a program's processes, in MiB. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #samples: Map<number, number>[] = [];

  constructor({ pid }: { readonly pid: number }) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#sample(), sampleIntervalMs);
  }

  /** Median and peak of all processes together since the last call. */
  readAndReset(): { readonly median: number; readonly peak: number } {
    this.#sample();
    const samples = this.#samples.map((sizes) =>
      sizes.values().reduce((sum, size) => sum + size, 0),
    );
    this.#samples = [];
    return { median: median(samples), peak: Math.max(...samples) };
  }

  /** The samples of each process. */
  byProcess(): number[][] {
    const sizes = this.#samples.flatMap((sample) => [...sample]);
    return [...Map.groupBy(sizes, ([pid]) => pid).values()].map((own) =>
      own.map(([, size]) => size),
    );
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    this.#samples.push(readResident(processTree(this.#pid)));
  }
}
