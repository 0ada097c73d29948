import { BufferPool } from '../../foundation/buffer-pool.ts';
import { type FairByteLimits, FairBytes } from '../../foundation/fair-bytes.ts';
import { kibibyte, mebibyte } from './route-limit.ts';

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

/** While others wait for memory, a body has to arrive this fast. */
export const largeBodyPace = { bytesPerSecond: 512 * kibibyte, graceSeconds: 5 };
/** Longer times between two looks are a stall of this process, which is not the sender's fault. */
const maxStepMs = 1_000;
/** Bodies that are late give way one after another, because those that remain get faster: this long for each MiB. */
const evictionMsPerMebibyte = 100;

/** Max bytes of large bodies in memory, where memory isn't scarce. */
export const largeBodyBudget: FairByteLimits = { total: 64 * mebibyte, perGroup: 32 * mebibyte };

/**
 * Memory for large bodies, apart from that of others so that these are never held up. A body waits, unread, until there is
 * space for all of it. An account can't keep others waiting with bodies that hardly arrive: while somebody waits, those of
 * the accounts that hold the most must keep a pace.
 */
export class LargeBodies {
  readonly #memory: FairBytes;
  readonly #buffers: BufferPool;
  #nextEvictionAt = 0;

  constructor(budget = largeBodyBudget) {
    this.#memory = new FairBytes(budget);
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
    let seenAt = performance.now();
    let elapsedMs = 0;
    const isLate = (arrived: number): boolean => {
      const now = performance.now();
      elapsedMs += Math.min(now - seenAt, maxStepMs);
      seenAt = now;
      const seconds = elapsedMs / 1_000 - largeBodyPace.graceSeconds;
      if (arrived >= seconds * largeBodyPace.bytesPerSecond) return false;
      if (now < this.#nextEvictionAt || !this.#memory.isHoldingUp(group)) return false;
      this.#nextEvictionAt = now + (length / mebibyte) * evictionMsPerMebibyte;
      return true;
    };
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
