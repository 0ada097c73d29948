import { Busy } from './errors.ts';
import { FairQueue } from './fair-queue.ts';

export interface FairSlotLimits {
  /** What the slots are for, in the words of a `Busy` error: "changes of this account". */
  readonly what: string;
  /** Slots in all, and those that one group may hold. */
  readonly slots: number;
  readonly slotsPerGroup: number;
  /** Callers that may wait, in all and of one group; one more is refused at once. */
  readonly waiting: number;
  readonly waitingPerGroup: number;
  /** Milliseconds after which a caller that waits is refused. */
  readonly timeout: number;
  /** Seconds that a caller who is refused is told to wait. */
  readonly retryAfter: number;
}

/** Gives a slot back; does nothing the second time. */
export type Release = () => void;

interface Waiter {
  readonly group: string;
  readonly start: (release: Release) => void;
}

/**
 * A few slots that groups share fairly: a group holds only so many, those that wait take turns by group, and what cannot
 * start soon is refused instead of piling up. Groups are accounts: none can keep another waiting for longer than its own turn.
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
   * @throws Busy where none is free in time
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
   * @param waitIndefinitely waits for as long as it takes, however many wait
   * @throws Busy where none is free in time
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
    const next = this.#queue.next((one) => this.#mayHold(one));
    next?.start(this.#hold(next.group));
  }

  #busy(): Busy {
    const { what, retryAfter } = this.#limits;
    return new Busy(`Too many ${what} are under way; try again in ${retryAfter} s`, retryAfter);
  }
}
