/** A memory of how often each key came in the last minute; bounded, so that strangers cannot fill it. */
export class RateLimit {
  readonly #most: number;
  readonly #keys: number;
  #counts = new Map<string, number>();
  #minute = 0;

  /** @param most times a minute for one key @param keys most keys remembered */
  constructor(most: number, keys = 20_000) {
    this.#most = most;
    this.#keys = keys;
  }

  /** Counts one; false where the key came too often. @param now milliseconds since the epoch */
  take(key: string, now: number): boolean {
    const minute = Math.floor(now / 60_000);
    if (minute !== this.#minute || this.#counts.size > this.#keys) {
      this.#counts = new Map();
      this.#minute = minute;
    }
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count <= this.#most;
  }
}
