import type { ChangeListener } from './change-listener.ts';

interface CacheOptions {
  /** Beyond this, the oldest entries are evicted. */
  readonly maxEntries?: number;
  /** Also remembers that there is no entry. Creating one must be announced, too. */
  readonly keepMissing?: boolean;
}

/**
 * A bounded cache of rarely changing rows, invalidated by change notifications (see `ChangeListener`). By default, missing
 * entries aren't cached. An entry invalidated while it was being read is returned but not cached.
 */
export class Cache<Value> {
  readonly #load: (key: string) => Promise<Value | undefined>;
  readonly #maxEntries: number;
  readonly #keepMissing: boolean;
  readonly #entries = new Map<string, Value | undefined>();
  readonly #loading = new Map<string, Promise<Value | undefined>>();
  readonly #changes: ChangeListener;

  /**
   * @param topic the topic used with `announceChange`
   * @param load reads an entry from the database
   */
  constructor(
    changes: ChangeListener,
    topic: string,
    load: (key: string) => Promise<Value | undefined>,
    { maxEntries = 10_000, keepMissing = false }: CacheOptions = {},
  ) {
    this.#load = load;
    this.#maxEntries = maxEntries;
    this.#keepMissing = keepMissing;
    this.#changes = changes;
    changes.subscribe(topic, (key) => this.#drop(key));
  }

  /** The cached entry, or undefined if `get` has to query the database. */
  peek(key: string): Value | undefined {
    return this.#changes.isReliable() ? this.#entries.get(key) : undefined;
  }

  /** The cached entry, even while changes may have been missed. */
  lastKnown(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  /** The entry from cache or database; undefined if it doesn't exist. */
  get(key: string): Promise<Value | undefined> | Value | undefined {
    if (!this.#changes.isReliable()) return this.#load(key);
    const cached = this.#entries.get(key);
    if (cached !== undefined || this.#entries.has(key)) return cached;
    return this.#loading.get(key) ?? this.#read(key);
  }

  #read(key: string): Promise<Value | undefined> {
    const reading = this.#load(key)
      .then((value) => {
        const isCurrent = this.#loading.get(key) === reading && this.#changes.isReliable();
        if (isCurrent && (value !== undefined || this.#keepMissing)) this.#store(key, value);
        return value;
      })
      .finally(() => {
        if (this.#loading.get(key) === reading) this.#loading.delete(key);
      });
    this.#loading.set(key, reading);
    return reading;
  }

  #store(key: string, value: Value | undefined): void {
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
