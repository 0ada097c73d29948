/** Remembers answers, also that there is none, for some seconds: for look-ups on the way of each message. */
export class TtlCache<Value> {
  readonly #ttlMs: number;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, { readonly value: Value; readonly until: number }>();

  constructor(ttlMs: number, maxEntries = 10_000) {
    this.#ttlMs = ttlMs;
    this.#maxEntries = maxEntries;
  }

  /** The answer from memory, or else asked for now. */
  async get(key: string, load: () => Promise<Value>): Promise<Value> {
    const cached = this.#entries.get(key);
    if (cached !== undefined && cached.until > performance.now()) return cached.value;
    const value = await load();
    if (this.#entries.size >= this.#maxEntries) this.#entries.clear();
    this.#entries.set(key, { value, until: performance.now() + this.#ttlMs });
    return value;
  }
}
