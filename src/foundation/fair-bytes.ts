import { FairQueue } from './fair-queue.ts';

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
  readonly #waiting = new FairQueue<Waiter>();
  #held = 0;

  constructor(limits: FairByteLimits) {
    this.#limits = limits;
  }

  /** Bytes held. */
  get held(): number {
    return this.#held;
  }

  /** True while another group, within its limit, waits for bytes, and none holds more of them than this one. */
  isHoldingUp(group: string): boolean {
    const held = this.#heldBy.get(group) ?? 0;
    if (held < Math.max(...this.#heldBy.values())) return false;
    let isAwaited = false;
    this.#waiting.next((other, { bytes }) => {
      isAwaited ||= other !== group && this.#fitsGroup(other, bytes);
      return false;
    });
    return isAwaited;
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
      let isWaiting = true;
      const start = (): void => {
        isWaiting = false;
        clearTimeout(timer);
        resolve(this.#hold(group, size));
      };
      const waiter: Waiter = { bytes: size, start };
      this.#waiting.add(group, waiter);
      this.#startWaiting();
      if (timeoutMs === undefined || !isWaiting) return;
      timer = setTimeout(() => {
        this.#waiting.delete(group, waiter);
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
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) next.start();
  }

  #takeNext(): Waiter | undefined {
    let isTotalFull = false;
    return this.#waiting.next((group, { bytes }) => {
      if (isTotalFull || !this.#fitsGroup(group, bytes)) return false;
      isTotalFull = this.#held + bytes > this.#limits.total;
      return !isTotalFull;
    });
  }

  #fitsGroup(group: string, bytes: number): boolean {
    return (this.#heldBy.get(group) ?? 0) + bytes <= this.#limits.perGroup;
  }
}
