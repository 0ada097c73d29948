import type { Clock } from '../../src/foundation/clock.ts';

/**
 * A clock that a test moves forward, and can hold: then a delay of a second is not over while a slow machine is busy with
 * the requests that it is about. Held, times of the database vary by what a statement takes to reach it.
 */
export class HeldClock implements Clock {
  #offset = 0;
  #heldAt: number | undefined;

  get offset(): number {
    return this.#heldAt === undefined ? this.#offset : this.#heldAt - Date.now();
  }

  now(): number {
    return Date.now() + this.offset;
  }

  /** Moves the time by `milliseconds`. */
  advance(milliseconds: number): void {
    if (this.#heldAt === undefined) this.#offset += milliseconds;
    else this.#heldAt += milliseconds;
  }

  /** Holds the time until the work is done. */
  async hold<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#heldAt = this.now();
    try {
      return await work();
    } finally {
      this.#offset = this.offset;
      this.#heldAt = undefined;
    }
  }
}
