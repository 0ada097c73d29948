import { comparePositions, type WalPosition } from './replica-position-store.ts';

interface Sample {
  readonly position: WalPosition;
  /** When the primary was there, by `performance.now()`. */
  readonly at: number;
}

/** Longer than any lag that matters. */
const maxSamples = 120;

/**
 * How far a replica is behind, measured by this process: the primary's positions are noted with the time, and the replica has
 * what was committed until the last one that it has reached. Needs no writes and no clocks that agree.
 */
export class ReplicaLag {
  readonly #samples: Sample[] = [];
  #completeUntil: number | undefined;

  /** Notes where the primary is. @param at time by `performance.now()` before the primary was asked */
  notePrimary(position: WalPosition, at: number): void {
    this.#samples.push({ position, at });
    if (this.#samples.length > maxSamples) this.#samples.shift();
  }

  /** Notes what the replica has replayed. */
  noteReplica(position: WalPosition): void {
    const reached = this.#samples.findLast(
      (sample) => comparePositions(sample.position, position) <= 0,
    );
    if (reached === undefined) return;
    this.#completeUntil = Math.max(reached.at, this.#completeUntil ?? Number.NEGATIVE_INFINITY);
  }

  /** Forgets everything, because the replica may be another one. */
  clear(): void {
    this.#samples.length = 0;
    this.#completeUntil = undefined;
  }

  /** Milliseconds since when the replica may miss commits; undefined if it has never been seen close enough to tell. */
  measure(now = performance.now()): number | undefined {
    return this.#completeUntil === undefined ? undefined : now - this.#completeUntil;
  }
}
