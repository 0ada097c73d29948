interface Entry<Value> {
  readonly value: Value;
  readonly size: number;
}

/** A map that holds entries up to a total size, and forgets what was not asked for longest. For values that never change. */
export class SizedMemory<Value> {
  readonly #most: number;
  readonly #entries = new Map<string, Entry<Value>>();
  #size = 0;

  /** @param most total size of the entries kept */
  constructor(most: number) {
    this.#most = most;
  }

  /** Total size of what is kept. */
  get size(): number {
    return this.#size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // A Map iterates in the order of insertion: what is asked for goes to the end.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keeps a value; one that is larger than everything allowed is not kept. */
  set(key: string, value: Value, size: number): void {
    this.#drop(key);
    if (size > this.#most) return;
    for (const oldest of this.#entries.keys()) {
      if (this.#size + size <= this.#most) break;
      this.#drop(oldest);
    }
    this.#entries.set(key, { value, size });
    this.#size += size;
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#size -= entry.size;
  }
}
