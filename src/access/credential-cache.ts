import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Eventual } from '../foundation/eventual.ts';
import { GenerationMap } from './generation-map.ts';
import { hashText } from './token-mint.ts';

/** A credential as the database knows it. */
export interface LiveCredential<Holder> {
  readonly holder: Holder;
  /** How long it lives from the moment of the answer; undefined: until it is ended. */
  readonly millisecondsLeft: number | undefined;
}

interface Known<Holder> {
  readonly holder: Holder;
  /** When it expires, by this process's monotonic clock. */
  readonly until: number;
}

/** How many credentials are kept in memory; about 400 bytes each. */
const defaultMax = 50_000;
/** How many valid ones are kept with their hash; about 200 bytes each. */
const maxHashes = 10_000;

export interface CredentialCacheParts<Holder> {
  readonly changes: ChangeListener;
  readonly clock: Clock;
  /** Reads a credential that was recognized from the database. */
  readonly read: (text: string, offset: number) => Promise<LiveCredential<Holder> | undefined>;
  readonly max?: number | undefined;
}

/**
 * Who holds a bearer credential, from memory where it was seen lately. What was ended is forgotten by announcement; while
 * announcements may be missed, the database is asked every time. Unknown ones are not remembered, since another node may
 * have issued one a moment ago.
 */
export class CredentialCache<Holder> {
  readonly #parts: CredentialCacheParts<Holder>;
  readonly #known: GenerationMap<Known<Holder>>;
  /** By the text itself: hashing it for each request costs more than the rest of the check. */
  readonly #hashes = new GenerationMap<string>(maxHashes);
  readonly #reading = new Map<string, Promise<Known<Holder> | undefined>>();

  constructor(parts: CredentialCacheParts<Holder>) {
    this.#parts = parts;
    this.#known = new GenerationMap(parts.max ?? defaultMax);
  }

  /**
   * The holder of a credential.
   * @param isGenuine false for what is refused without a query; asked where the text isn't in memory
   * @returns undefined where it is not valid; a promise only where the database is asked
   */
  find(text: string, isGenuine: () => boolean): Eventual<Holder | undefined> {
    const hashed = this.#hashes.get(text);
    const key = hashed ?? hashText(text);
    const trusted = this.#parts.changes.trusted();
    const known = trusted ? this.#known.get(key) : undefined;
    if (known !== undefined) {
      if (known.until > this.#now()) {
        if (hashed === undefined) this.#hashes.set(text, key);
        return known.holder;
      }
      this.#known.delete(key);
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
  forgetHash(key: string): void {
    this.#forgetTexts();
    this.#known.delete(key);
  }

  /** Forgets every credential whose holder matches; all of them without a test. */
  forget(matches?: (holder: Holder) => boolean): void {
    this.#forgetTexts();
    if (matches === undefined) this.#known.clear();
    else this.#known.deleteWhere(({ holder }) => matches(holder));
  }

  /** A credential that was ended is not kept, and what is being read may be ended already. */
  #forgetTexts(): void {
    this.#reading.clear();
    this.#hashes.clear();
  }

  #now(): number {
    return performance.now() + this.#parts.clock.offset;
  }

  async #read(text: string): Promise<Known<Holder> | undefined> {
    const before = this.#now();
    const live = await this.#parts.read(text, this.#parts.clock.offset);
    return (
      live && {
        holder: live.holder,
        until: before + (live.millisecondsLeft ?? Number.POSITIVE_INFINITY),
      }
    );
  }

  /** Requests with one credential that come together share one query; what an announcement crossed is answered, not kept. */
  #readOnce(text: string, key: string): Promise<Known<Holder> | undefined> {
    const reading = this.#read(text)
      .then((found) => {
        const current = this.#reading.get(key) === reading && this.#parts.changes.trusted();
        if (found !== undefined && current) this.#known.set(key, found);
        return found;
      })
      .finally(() => {
        if (this.#reading.get(key) === reading) this.#reading.delete(key);
      });
    this.#reading.set(key, reading);
    return reading;
  }
}
