import { LRUCache } from 'lru-cache';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import { hashText } from './token-mint.ts';

/** A credential as stored in the database. */
export interface StoredCredential<Holder> {
  readonly holder: Holder;
  /** Remaining lifetime at the time of the query; undefined: until revoked. */
  readonly remainingMs: number | undefined;
}

interface CachedCredential<Holder> {
  readonly holder: Holder;
  /** Expiry by this process's monotonic clock. */
  readonly expiresAt: number;
}

/** Credentials kept in memory; about 400 bytes each. */
const defaultMax = 50_000;
/** Texts of valid credentials kept with their hash; about 200 bytes each. */
const maxHashes = 10_000;

export interface CredentialCacheDependencies<Holder> {
  readonly changes: ChangeListener;
  readonly clock: Clock;
  /** Reads a genuine credential from the database. */
  readonly read: (text: string) => Promise<StoredCredential<Holder> | undefined>;
  readonly max?: number | undefined;
}

/**
 * Caches the holders of bearer credentials. Notifications evict revoked credentials; while notifications may be
 * missed, every lookup queries the database. Unknown credentials aren't cached, since another node may have issued
 * one a moment ago.
 */
export class CredentialCache<Holder> {
  readonly #dependencies: CredentialCacheDependencies<Holder>;
  readonly #credentials: LRUCache<string, CachedCredential<Holder>>;
  /** By the text itself: hashing it for each request costs more than the rest of the check. */
  readonly #hashes = boundedCache<string>(maxHashes);
  readonly #reading = new Map<string, Promise<CachedCredential<Holder> | undefined>>();

  constructor(dependencies: CredentialCacheDependencies<Holder>) {
    this.#dependencies = dependencies;
    this.#credentials = boundedCache(dependencies.max ?? defaultMax);
  }

  /**
   * Finds the holder of a credential.
   * @param isGenuine false for credentials that can be rejected without a query; called only if the text isn't cached
   * @returns undefined if it is not valid; a promise only if the database is queried
   */
  find(text: string, isGenuine: () => boolean): MaybePromise<Holder | undefined> {
    const hashed = this.#hashes.get(text);
    const key = hashed ?? hashText(text);
    const trusted = this.#dependencies.changes.isReliable();
    const cached = trusted ? this.#credentials.get(key) : undefined;
    if (cached !== undefined) {
      if (cached.expiresAt > this.#now()) {
        if (hashed === undefined) this.#hashes.set(text, key);
        return cached.holder;
      }
      this.#credentials.delete(key);
      this.#hashes.delete(text);
      return undefined;
    }
    if (!isGenuine()) return undefined;
    const reading = trusted
      ? (this.#reading.get(key) ?? this.#readOnce(text, key))
      : this.#read(text);
    return reading.then((found) => found?.holder);
  }

  /** Evicts the credential with this hash (SHA-256 in base64). */
  invalidateHash(key: string): void {
    this.#clearHashes();
    this.#credentials.delete(key);
  }

  /** Evicts every credential whose holder matches; all of them if no predicate is given. */
  invalidate(matches?: (holder: Holder) => boolean): void {
    this.#clearHashes();
    if (matches === undefined) this.#credentials.clear();
    else
      for (const [key, { holder }] of [...this.#credentials.entries()])
        if (matches(holder)) this.#credentials.delete(key);
  }

  /** Drops texts of revoked credentials, including any that is being read now. */
  #clearHashes(): void {
    this.#reading.clear();
    this.#hashes.clear();
  }

  #now(): number {
    return this.#dependencies.clock.monotonic();
  }

  async #read(text: string): Promise<CachedCredential<Holder> | undefined> {
    const before = this.#now();
    const stored = await this.#dependencies.read(text);
    return (
      stored && {
        holder: stored.holder,
        expiresAt: before + (stored.remainingMs ?? Number.POSITIVE_INFINITY),
      }
    );
  }

  /**
   * Concurrent requests with one credential share one query. A result that a notification overtook is returned but
   * not cached.
   */
  #readOnce(text: string, key: string): Promise<CachedCredential<Holder> | undefined> {
    const reading = this.#read(text)
      .then((found) => {
        const current =
          this.#reading.get(key) === reading && this.#dependencies.changes.isReliable();
        if (found !== undefined && current) this.#credentials.set(key, found);
        return found;
      })
      .finally(() => {
        if (this.#reading.get(key) === reading) this.#reading.delete(key);
      });
    this.#reading.set(key, reading);
    return reading;
  }
}

/** Drops entries that weren't used recently. Counted by size, because a list of `max` entries would be allocated at once. */
function boundedCache<Value extends NonNullable<unknown>>(max: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
}
