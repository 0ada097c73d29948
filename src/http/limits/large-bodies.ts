import { FairBytes } from '../../foundation/fair-bytes.ts';
import { mebibyte } from './route-limit.ts';

/** A body that may be larger than its route's limit, because of whom it comes from. */
export interface LargeBody {
  readonly maxBytes: number;
  /** Shares memory with other groups: the account. */
  readonly group: string;
}

/** Max seconds that a large body may take to arrive. */
export const largeBodySeconds = 120;
/** Max milliseconds that one waits for memory before it is read. */
const maxWaitMs = 10_000;

/**
 * Memory for large bodies, apart from that of others so that these are never held up. A body waits, unread, until there is
 * space for all of it.
 */
export class LargeBodies {
  readonly #memory = new FairBytes({ total: 64 * mebibyte, perGroup: 32 * mebibyte });

  /** Bytes reserved. */
  get bytes(): number {
    return this.#memory.held;
  }

  /** @returns a function that releases the memory; undefined if there is none in time */
  reserve(group: string, bytes: number): Promise<(() => void) | undefined> {
    return this.#memory.acquire(group, bytes, maxWaitMs);
  }
}
