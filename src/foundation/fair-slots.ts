import { Busy } from './errors.ts';
import { FairQueue } from './fair-queue.ts';

export interface FairSlotLimits {
  /** What the slots are for, as in the message of `Busy`: "changes". */
  readonly what: string;
  /** Max slots in total and per group. */
  readonly slots: number;
  readonly slotsPerGroup: number;
  /** Max waiting callers in total and per group; further ones are rejected immediately. */
  readonly waiting: number;
  readonly waitingPerGroup: number;
  /** Milliseconds after which a waiting caller is rejected. */
  readonly timeout: number;
  /** Retry-After of a rejected caller, in seconds. */
  readonly retryAfter: number;
}

/** Releases a slot; idempotent. */
export type Release = () => void;

interface Waiter {
  readonly group: string;
  readonly start: (release: Release) => void;
}

/**
 * Slots that groups (accounts) share fairly: the slots per group are limited, waiting groups take turns, and callers that
 * can't start soon are rejected instead of piling up.
 */
export class FairSlots {
  readonly #limits: FairSlotLimits;
  readonly #queue = new FairQueue<Waiter>();
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(limits: FairSlotLimits) {
    this.#limits = limits;
  }

  /**
   * Runs work in a slot of the group.
   * @throws Busy if none becomes free in time
   */
  async run<Result>(group: string, work: () => Promise<Result>): Promise<Result> {
    const release = await this.acquire(group);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /**
   * Takes a slot for the group.
   * @param waitIndefinitely ignores the limits on waiting
   * @throws Busy if none becomes free in time
   */
  async acquire(group: string, waitIndefinitely = false): Promise<Release> {
    if (this.#held < this.#limits.slots && this.#mayHold(group)) return this.#hold(group);
    const { waiting, waitingPerGroup } = this.#limits;
    const full = this.#queue.size >= waiting || this.#queue.sizeOf(group) >= waitingPerGroup;
    if (full && !waitIndefinitely) throw this.#busy();
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#queue.delete(group, waiter);
        reject(this.#busy());
      };
      const timer = waitIndefinitely ? undefined : setTimeout(giveUp, this.#limits.timeout);
      const start = (release: Release): void => {
        clearTimeout(timer);
        resolve(release);
      };
      const waiter: Waiter = { group, start };
      this.#queue.add(group, waiter);
    });
  }

  #mayHold(group: string): boolean {
    return (this.#heldBy.get(group) ?? 0) < this.#limits.slotsPerGroup;
  }

  #hold(group: string): Release {
    this.#held += 1;
    this.#heldBy.set(group, (this.#heldBy.get(group) ?? 0) + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#free(group);
    };
  }

  #free(group: string): void {
    this.#held -= 1;
    const left = (this.#heldBy.get(group) ?? 1) - 1;
    if (left === 0) this.#heldBy.delete(group);
    else this.#heldBy.set(group, left);
    const next = this.#queue.next((candidate) => this.#mayHold(candidate));
    next?.start(this.#hold(next.group));
  }

  #busy(): Busy {
    const { what, retryAfter } = this.#limits;
    return new Busy(`Too many ${what} in progress. Retry in ${retryAfter} s`, retryAfter);
  }
}
