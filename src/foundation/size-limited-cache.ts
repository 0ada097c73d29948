interface Entry<Value> {
  readonly value: Value;
  readonly size: number;
  /** Since it stands at its place in the order. */
  used: boolean;
}

/**
 * A map that holds entries up to a total size, and forgets what was not asked for longest. For values that never change.
 * The order is set right when something has to go ("second chance"): a Map whose entries move each time they are asked for
 * makes tables that only a full collection of garbage frees.
 */
export class SizeLimitedCache<Value> {
  readonly #maxSize: number;
  readonly #entries = new Map<string, Entry<Value>>();
  #size = 0;

  /** @param maxSize total size of the entries kept */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  /** Total size of what is kept. */
  get size(): number {
    return this.#size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.used = true;
    return entry.value;
  }

  /** Keeps a value; one that is larger than everything allowed is not kept. */
  set(key: string, value: Value, size: number): void {
    this.#drop(key);
    if (size > this.#maxSize) return;
    // A Map iterates in the order of insertion, and meets again what is moved to its end.
    for (const [oldest, entry] of this.#entries) {
      if (this.#size + size <= this.#maxSize) break;
      if (entry.used) this.#moveToEnd(oldest, entry);
      else this.#drop(oldest);
    }
    this.#entries.set(key, { value, size, used: false });
    this.#size += size;
  }

  #moveToEnd(key: string, entry: Entry<Value>): void {
    entry.used = false;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#size -= entry.size;
  }
}
