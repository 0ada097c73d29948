interface Entry<Value> {
  readonly value: Value;
  readonly size: number;
  /** Whether it was read since it was last moved. */
  used: boolean;
}

/**
 * A least-recently-used cache with a total size limit, for values that never change. The order is only updated on eviction
 * ("second chance"), because moving Map entries on every read leaves garbage that only a full collection frees.
 */
export class SizeLimitedCache<Value> {
  readonly #maxSize: number;
  readonly #entries = new Map<string, Entry<Value>>();
  #size = 0;

  /** @param maxSize max total size of the entries */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  /** Total size of the entries. */
  get size(): number {
    return this.#size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.used = true;
    return entry.value;
  }

  /** Stores a value, unless it alone exceeds the limit. */
  set(key: string, value: Value, size: number): void {
    this.#drop(key);
    if (size > this.#maxSize) return;
    // A Map iterates in insertion order, including entries moved to the end during the iteration.
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
