import { FairBytes } from '../../foundation/fair-bytes.ts';
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
  /** True if the body, of which these bytes have arrived, must make room for others. */
  isLate(arrived: number): boolean;
  release(): void;
}

/** Max seconds that a large body may take to arrive. */
export const largeBodySeconds = 120;
/** Max milliseconds that one waits for memory before it is read. */
const maxWaitMs = 20_000;

/** While others wait for memory, a body has to arrive this fast. */
export const largeBodyPace = { bytesPerSecond: mebibyte, graceSeconds: 5 };

/** Max bytes of large bodies in memory. */
export const largeBodyBudget = { total: 64 * mebibyte, perGroup: 32 * mebibyte };

/**
 * Memory for large bodies, apart from that of others so that these are never held up. A body waits, unread, until there is
 * space for all of it. An account can't keep others waiting with bodies that hardly arrive: while somebody waits, those of
 * the accounts that hold the most must keep a pace.
 */
export class LargeBodies {
  readonly #memory = new FairBytes(largeBodyBudget);

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
    const startedAt = performance.now();
    const isLate = (arrived: number): boolean => {
      const seconds = (performance.now() - startedAt) / 1_000 - largeBodyPace.graceSeconds;
      return arrived < seconds * largeBodyPace.bytesPerSecond && this.#memory.isHoldingUp(group);
    };
    return { maxBytes, isLate, release };
  }
}
