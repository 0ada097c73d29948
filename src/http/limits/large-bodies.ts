import { BufferPool } from '../../foundation/buffer-pool.ts';
import { Busy } from '../../foundation/errors.ts';
import { type Evictable, Limiter } from '../../foundation/limiter.ts';
import { policies } from '../../foundation/policies.ts';

/** A body that may be larger than its route's limit, because of whom it comes from. */
export interface LargeBody {
  readonly maxBytes: number;
  readonly account: string;
}

/** Memory for one large body. */
export interface LargeBodySpace {
  readonly maxBytes: number;
  /** What arrives, and ends if it must make room for others; undefined once it has arrived. */
  watch(body: Evictable | undefined): void;
  /** The buffer for a body of known length. */
  take(length: number): Buffer;
  /** Lets another body have that buffer. Only if nothing reads or writes it anymore: after a failure, a write may go on. */
  recycle(): void;
  release(): void;
}

/** Max seconds that a large body may take to arrive. */
export const largeBodySeconds = 120;

/**
 * Memory for large bodies, apart from that of others so that these are never held up. A body waits, unread, until there is
 * space for all of it, and must arrive at a pace while others wait.
 */
export class LargeBodies {
  readonly #memory: Limiter;
  readonly #buffers: BufferPool;

  /** @param share from `memoryShare` */
  constructor(share = 1) {
    this.#memory = new Limiter(policies.largeBodies, share);
    this.#buffers = new BufferPool(this.#memory.policy.total / 4);
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
    { account, maxBytes }: LargeBody,
    length = maxBytes,
  ): Promise<LargeBodySpace | undefined> {
    let watched: Evictable | undefined;
    const evictable: Evictable = {
      progress: () => watched?.progress() ?? Number.POSITIVE_INFINITY,
      evict: () => watched?.evict(),
    };
    const holding = await this.#memory
      .acquire(account, { amount: length, evictable })
      .catch((error: unknown) => {
        if (error instanceof Busy) return undefined;
        throw error;
      });
    if (holding === undefined) return undefined;
    let taken: Buffer | undefined;
    const take = (bytes: number): Buffer => {
      taken = this.#buffers.take(bytes);
      return taken;
    };
    const recycle = (): void => {
      if (taken !== undefined) this.#buffers.recycle(taken);
      taken = undefined;
    };
    const watch = (body: Evictable | undefined): void => {
      watched = body;
    };
    return { maxBytes, watch, take, recycle, release: holding.release };
  }
}
