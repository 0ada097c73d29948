import { BufferPool } from '../../foundation/buffer-pool.ts';
import type { FairByteLimits } from '../../foundation/fair-bytes.ts';
import { PacedBytes } from '../../foundation/paced-bytes.ts';
import { mebibyte } from './route-limit.ts';

/** A body that may be larger than its route's limit, because of whom it comes from. */
export interface LargeBody {
  readonly maxBytes: number;
  /** Shares memory with other groups: the account. */
  readonly group: string;
}

/** Memory for one large body. */
export interface LargeBodySpace {
  readonly maxBytes: number;
  /** True if the body, of which these bytes have arrived, must make room for others. Asked about twice a second. */
  isLate(arrived: number): boolean;
  /** The buffer for a body of known length. */
  take(length: number): Buffer;
  /** Lets another body have that buffer. Only if nothing reads or writes it anymore: after a failure, a write may go on. */
  recycle(): void;
  release(): void;
}

/** Max seconds that a large body may take to arrive. */
export const largeBodySeconds = 120;
/** Max milliseconds that one waits for memory before it is read. */
const maxWaitMs = 30_000;

/** Max bytes of large bodies in memory, where memory isn't scarce. */
export const largeBodyBudget: FairByteLimits = { total: 64 * mebibyte, perGroup: 32 * mebibyte };

/**
 * Memory for large bodies, apart from that of others so that these are never held up. A body waits, unread, until there is
 * space for all of it, and must keep a pace while others wait.
 */
export class LargeBodies {
  readonly #memory: PacedBytes;
  readonly #buffers: BufferPool;

  constructor(budget = largeBodyBudget) {
    this.#memory = new PacedBytes(budget);
    this.#buffers = new BufferPool(budget.total / 4);
  }

  /** Bytes reserved. */
  get bytes(): number {
    return this.#memory.held;
  }

  /**
   * @param length bytes of the body, if they are known
   * @returns undefined if there is no memory in time
   */
  async reserve(
    { group, maxBytes }: LargeBody,
    length = maxBytes,
  ): Promise<LargeBodySpace | undefined> {
    const release = await this.#memory.acquire(group, length, maxWaitMs);
    if (release === undefined) return undefined;
    const isLate = this.#memory.startPace(group, () => length);
    let taken: Buffer | undefined;
    const take = (bytes: number): Buffer => {
      taken = this.#buffers.take(bytes);
      return taken;
    };
    const recycle = (): void => {
      if (taken !== undefined) this.#buffers.recycle(taken);
      taken = undefined;
    };
    return { maxBytes, isLate, take, recycle, release };
  }
}
