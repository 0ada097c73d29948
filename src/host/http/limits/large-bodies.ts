import { type Evictable, Limiter } from '../../../base/fairness/limiter.ts';
import { policies } from '../../../base/fairness/policies.ts';
import { Busy } from '../../../base/values/errors.ts';

/**
 * Large buffers that are used again: each new one costs hundreds of page faults, and garbage collections come with every few
 * of them. What they held before is still in them.
 */
export class BufferPool {
  readonly #maxFreeBytes: number;
  readonly #free = new Map<number, Buffer[]>();
  #freeBytes = 0;

  /** @param maxFreeBytes max bytes of the free buffers that are kept */
  constructor(maxFreeBytes: number) {
    this.#maxFreeBytes = maxFreeBytes;
  }

  /** @returns a buffer of exactly this length, perhaps the start of a longer one */
  take(length: number): Buffer {
    const size = roundUp(length);
    const buffer = this.#free.get(size)?.pop();
    if (buffer === undefined) return Buffer.allocUnsafeSlow(size).subarray(0, length);
    this.#freeBytes -= size;
    return Buffer.from(buffer.buffer, 0, length);
  }

  /** Nothing may read or write the buffer, which came from `take`, from now on. */
  recycle({ buffer }: Buffer): void {
    const size = buffer.byteLength;
    if (this.#freeBytes + size > this.#maxFreeBytes) return;
    this.#freeBytes += size;
    const free = this.#free.get(size);
    const whole = Buffer.from(buffer);
    if (free === undefined) this.#free.set(size, [whole]);
    else free.push(whole);
  }
}

/** Few sizes, so that buffers fit again; at most a quarter more. */
function roundUp(length: number): number {
  const step = Math.max(4_096, 2 ** (Math.floor(Math.log2(length)) - 2));
  return Math.ceil(length / step) * step;
}

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
