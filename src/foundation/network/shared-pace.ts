/** Reading this much takes no time. Timers are coarse, and usual messages shouldn't wait for them. */
const maxAheadMs = 4;
/** Work that each chunk makes, however small it is. */
const chunkBytes = 1_024;

/** How fast bytes are read, shared evenly by the groups (accounts, networks) that would read more. */
export class SharedPace {
  readonly #bytesPerMs: number;
  /** When the bytes that a group has read are paid for, in monotonic milliseconds. */
  readonly #paidAt = new Map<string, number>();
  #sweepAt = 0;

  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1_000;
  }

  /**
   * Takes a chunk.
   * @param now monotonic milliseconds
   * @returns how many milliseconds to wait before the next one is read
   */
  take(group: string, bytes: number, now = performance.now()): number {
    this.#sweep(now);
    const start = Math.max(now, this.#paidAt.get(group) ?? now);
    this.#paidAt.set(group, start);
    const paidAt = start + ((bytes + chunkBytes) * this.#paidAt.size) / this.#bytesPerMs;
    this.#paidAt.set(group, paidAt);
    return paidAt - now > maxAheadMs ? paidAt - now : 0;
  }

  #sweep(now: number): void {
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + maxAheadMs;
    for (const [group, paidAt] of this.#paidAt) if (paidAt <= now) this.#paidAt.delete(group);
  }
}
