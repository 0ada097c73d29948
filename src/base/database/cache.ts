import { LRUCache } from 'lru-cache';
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

/** A least-recently-used cache with a total size limit, for values that never change. */
export class SizeLimitedCache<Value extends NonNullable<unknown>> {
  readonly #entries: LRUCache<string, Value>;

  /** @param maxSize max total size of the entries */
  constructor(maxSize: number) {
    this.#entries = new LRUCache({ maxSize: Math.max(1, Math.floor(maxSize)) });
  }

  /** Total size of the entries. */
  get size(): number {
    return this.#entries.calculatedSize;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  /** Stores a value, unless it alone exceeds the limit. */
  set(key: string, value: Value, size: number): void {
    this.#entries.set(key, value, { size: Math.max(1, size) });
  }
}
