import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Clock } from '../foundation/clock.ts';
import type { MaybePromise } from '../foundation/maybe-promise.ts';
import { GenerationMap } from './generation-map.ts';
import { hashText } from './token-mint.ts';

/** A credential as the database knows it. */
export interface StoredCredential<Holder> {
  readonly holder: Holder;
  /** How long it lives from the moment of the answer; undefined: until it is ended. */
  readonly remainingMs: number | undefined;
}

interface CachedCredential<Holder> {
  readonly holder: Holder;
  /** When it expires, by this process's monotonic clock. */
  readonly expiresAt: number;
}

/** How many credentials are kept in memory; about 400 bytes each. */
const defaultMax = 50_000;
/** How many valid ones are kept with their hash; about 200 bytes each. */
const maxHashes = 10_000;

export interface CredentialCacheDependencies<Holder> {
  readonly changes: ChangeListener;
  readonly clock: Clock;
  /** Reads a credential that was recognized from the database. */
  readonly read: (text: string) => Promise<StoredCredential<Holder> | undefined>;
  readonly max?: number | undefined;
}

/**
 * Who holds a bearer credential, from memory where it was seen lately. What was ended is forgotten by announcement; while
 * announcements may be missed, the database is asked every time. Unknown ones are not remembered, since another node may
 * have issued one a moment ago.
 */
export class CredentialCache<Holder> {
  readonly #dependencies: CredentialCacheDependencies<Holder>;
  readonly #credentials: GenerationMap<CachedCredential<Holder>>;
  /** By the text itself: hashing it for each request costs more than the rest of the check. */
  readonly #hashes = new GenerationMap<string>(maxHashes);
  readonly #reading = new Map<string, Promise<CachedCredential<Holder> | undefined>>();

  constructor(dependencies: CredentialCacheDependencies<Holder>) {
    this.#dependencies = dependencies;
    this.#credentials = new GenerationMap(dependencies.max ?? defaultMax);
  }

  /**
   * The holder of a credential.
   * @param isGenuine false for what is refused without a query; asked where the text isn't in memory
   * @returns undefined where it is not valid; a promise only where the database is asked
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

  /** Forgets the credential with this hash (SHA-256 in base64). */
  invalidateHash(key: string): void {
    this.#clearHashes();
    this.#credentials.delete(key);
  }

  /** Forgets every credential whose holder matches; all of them without a test. */
  invalidate(matches?: (holder: Holder) => boolean): void {
    this.#clearHashes();
    if (matches === undefined) this.#credentials.clear();
    else this.#credentials.deleteWhere(({ holder }) => matches(holder));
  }

  /** A credential that was ended is not kept, and what is being read may be ended already. */
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

  /** Requests with one credential that come together share one query; what an announcement crossed is answered, not kept. */
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
