/** Per-key rate limit over one minute. Bounded, so that strangers can't exhaust memory. */
export class RateLimit {
  readonly #maxPerMinute: number;
  readonly #maxKeys: number;
  #counts = new Map<string, number>();
  #minute = 0;

  /** @param maxPerMinute per key|@param maxKeys max keys remembered */
  constructor(maxPerMinute: number, maxKeys = 20_000) {
    this.#maxPerMinute = maxPerMinute;
    this.#maxKeys = maxKeys;
  }

  /**
   * Counts one use; false if the key exceeded its limit.
   * @param now milliseconds since the epoch
   */
  consume(key: string, now: number): boolean {
    const minute = Math.floor(now / 60_000);
    if (minute !== this.#minute || this.#counts.size > this.#maxKeys) {
      this.#counts = new Map();
      this.#minute = minute;
    }
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count <= this.#maxPerMinute;
  }
}
