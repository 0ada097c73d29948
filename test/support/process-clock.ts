import type { Clock } from '../../src/base/values/clock.ts';

/** A clock without a database that a test moves forward. */
export class ProcessClock implements Clock {
  #offsetMs = 0;

  now(): number {
    return Date.now() + this.#offsetMs;
  }

  monotonic(): number {
    return performance.now() + this.#offsetMs;
  }

  advance(ms: number): void {
    this.#offsetMs += ms;
  }
}
