import type { ChangeListener } from './change-listener.ts';

/**
 * A bounded memory of rows that rarely change, kept correct by announcements (see `ChangeListener`).
 * Entries that do not exist are not remembered, since another node may be making them just now.
 * An entry that was being read while its announcement came is answered but not kept.
 */
export class Cache<Value> {
  readonly #load: (key: string) => Promise<Value | undefined>;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, Value>();
  readonly #loading = new Map<string, Promise<Value | undefined>>();
  readonly #changes: ChangeListener;

  /**
   * @param topic what `announceChange` names this cache
   * @param load reads an entry from the database
   * @param maxEntries entries kept; past it the oldest go
   */
  constructor(
    changes: ChangeListener,
    topic: string,
    load: (key: string) => Promise<Value | undefined>,
    maxEntries = 10_000,
  ) {
    this.#load = load;
    this.#maxEntries = maxEntries;
    this.#changes = changes;
    changes.subscribe(topic, (key) => this.#drop(key));
  }

  /** The entry in memory, or undefined: then `get` asks the database. */
  peek(key: string): Value | undefined {
    return this.#changes.isReliable() ? this.#entries.get(key) : undefined;
  }

  /** The entry from memory or the database; undefined where there is none. */
  get(key: string): Promise<Value | undefined> | Value | undefined {
    if (!this.#changes.isReliable()) return this.#load(key);
    const cached = this.#entries.get(key);
    if (cached !== undefined) return cached;
    return this.#loading.get(key) ?? this.#read(key);
  }

  #read(key: string): Promise<Value | undefined> {
    const reading = this.#load(key)
      .then((value) => {
        if (this.#loading.get(key) === reading && this.#changes.isReliable() && value !== undefined)
          this.#store(key, value);
        return value;
      })
      .finally(() => {
        if (this.#loading.get(key) === reading) this.#loading.delete(key);
      });
    this.#loading.set(key, reading);
    return reading;
  }

  #store(key: string, value: Value): void {
    if (this.#entries.size >= this.#maxEntries) {
      const oldest = this.#entries.keys().next().value;
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    this.#entries.set(key, value);
  }

  #drop(key: string): void {
    if (key === '*') {
      this.#entries.clear();
      this.#loading.clear();
    } else {
      this.#entries.delete(key);
      this.#loading.delete(key);
    }
  }
}
