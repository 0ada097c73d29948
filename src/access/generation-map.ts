/**
 * A bounded map that evicts entries not used recently: a full young generation replaces the old one, and a hit in the
 * old one promotes the entry. A hit in the young generation is a single lookup without a write.
 */
export class GenerationMap<Value> {
  readonly #half: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  /** @param maxEntries maximum number of entries */
  constructor(maxEntries: number) {
    this.#half = Math.max(1, Math.floor(maxEntries / 2));
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): Value | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const older = this.#old.get(key);
    if (older !== undefined) {
      this.#old.delete(key);
      this.set(key, older);
    }
    return older;
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#old.delete(key);
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** Deletes every entry for which `test` returns true. */
  deleteWhere(test: (value: Value) => boolean): void {
    for (const generation of [this.#young, this.#old])
      for (const [key, value] of generation) if (test(value)) generation.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
