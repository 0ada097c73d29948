interface Waiter {
  readonly bytes: number;
  readonly start: () => void;
}

export interface FairByteLimits {
  /** Max bytes held in total and per group; a larger request counts as the latter. */
  readonly total: number;
  readonly perGroup: number;
}

/**
 * Memory that groups (accounts) share fairly: the bytes per group are limited, and waiting groups take turns. Small requests
 * don't overtake a large one that waits for the total, so it gets its turn.
 */
export class FairBytes {
  readonly #limits: FairByteLimits;
  readonly #heldBy = new Map<string, number>();
  readonly #waiting = new Map<string, Waiter[]>();
  #held = 0;

  constructor(limits: FairByteLimits) {
    this.#limits = limits;
  }

  /** Bytes held. */
  get held(): number {
    return this.#held;
  }

  /**
   * Takes bytes for a group, waiting for them if need be.
   * @param timeoutMs max milliseconds to wait; by default, no limit
   * @returns a function that releases them, idempotent; undefined on timeout
   */
  acquire(group: string, bytes: number, timeoutMs?: number): Promise<(() => void) | undefined> {
    const size = Math.min(bytes, this.#limits.perGroup, this.#limits.total);
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const start = (): void => {
        clearTimeout(timer);
        resolve(this.#hold(group, size));
      };
      const waiter: Waiter = { bytes: size, start };
      const members = this.#waiting.get(group);
      if (members === undefined) this.#waiting.set(group, [waiter]);
      else members.push(waiter);
      this.#startWaiting();
      if (timeoutMs === undefined || !this.#isWaiting(group, waiter)) return;
      timer = setTimeout(() => {
        this.#remove(group, waiter);
        resolve(undefined);
        this.#startWaiting();
      }, timeoutMs);
    });
  }

  #hold(group: string, bytes: number): () => void {
    this.#held += bytes;
    this.#heldBy.set(group, (this.#heldBy.get(group) ?? 0) + bytes);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#held -= bytes;
      const left = (this.#heldBy.get(group) ?? 0) - bytes;
      if (left > 0) this.#heldBy.set(group, left);
      else this.#heldBy.delete(group);
      this.#startWaiting();
    };
  }

  #startWaiting(): void {
    for (let next = this.#findNext(); next !== undefined; next = this.#findNext()) {
      const [group, waiter] = next;
      this.#remove(group, waiter);
      // The group's next one comes after the other groups'.
      const rest = this.#waiting.get(group);
      if (rest !== undefined) {
        this.#waiting.delete(group);
        this.#waiting.set(group, rest);
      }
      waiter.start();
    }
  }

  #findNext(): [group: string, waiter: Waiter] | undefined {
    for (const [group, [first]] of this.#waiting) {
      if (first === undefined) continue;
      if ((this.#heldBy.get(group) ?? 0) + first.bytes > this.#limits.perGroup) continue;
      return this.#held + first.bytes > this.#limits.total ? undefined : [group, first];
    }
    return undefined;
  }

  #isWaiting(group: string, waiter: Waiter): boolean {
    return this.#waiting.get(group)?.includes(waiter) ?? false;
  }

  #remove(group: string, waiter: Waiter): void {
    const left = (this.#waiting.get(group) ?? []).filter((other) => other !== waiter);
    if (left.length === 0) this.#waiting.delete(group);
    else this.#waiting.set(group, left);
  }
}
