import type { ChangeListener } from './change-listener.ts';

/**
 * A bounded cache of rarely changing rows, invalidated by change notifications (see `ChangeListener`). Missing entries
 * aren't cached, because another node may be creating them. An entry invalidated while it was being read is returned but not
 * cached.
 */
export class Cache<Value> {
  readonly #load: (key: string) => Promise<Value | undefined>;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, Value>();
  readonly #loading = new Map<string, Promise<Value | undefined>>();
  readonly #changes: ChangeListener;

  /**
   * @param topic the topic used with `announceChange`
   * @param load reads an entry from the database
   * @param maxEntries beyond this, the oldest entries are evicted
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

  /** The cached entry, or undefined if `get` has to query the database. */
  peek(key: string): Value | undefined {
    return this.#changes.isReliable() ? this.#entries.get(key) : undefined;
  }

  /** The entry from cache or database; undefined if it doesn't exist. */
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
