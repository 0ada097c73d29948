import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Clock } from '../foundation/clock.ts';
import type { AccessTokenStore } from './access-token-store.ts';
import type { Caller } from './caller.ts';
import { tokenTopic } from './end-tokens-store.ts';
import { GenerationMap } from './generation-map.ts';
import { hashText, type TokenMint } from './token-mint.ts';

interface Known {
  readonly caller: Caller;
  /** When it expires, by this process's monotonic clock. */
  readonly until: number;
}

/** Most tokens kept in memory; about 400 bytes each. */
const mostTokens = 50_000;
/** Most valid tokens whose hash is kept beside them; about 200 bytes each. */
const mostHashes = 10_000;

const bearer = /^bearer +([^\s]+) *$/i;

export interface TokenCheckerParts {
  readonly mint: TokenMint;
  readonly store: Pick<AccessTokenStore, 'find'>;
  readonly changes: ChangeListener;
  readonly clock: Clock;
}

/**
 * Tells who is calling by the access token of a request (RFC 6750 section 2.1). A token that was seen lately is
 * answered from memory at once; a forged one is refused by its checksum without a query; a revoked one, or one whose
 * person or integration was disabled, is forgotten by announcement. Unknown tokens are not remembered, since another
 * node may have issued one just now.
 */
export class TokenChecker {
  readonly #parts: TokenCheckerParts;
  readonly #known: GenerationMap<Known>;
  /** By the token itself: hashing it for each request costs more than the rest of the check. */
  readonly #hashes = new GenerationMap<string>(mostHashes);
  readonly #asking = new Map<string, Promise<Known | undefined>>();

  constructor(parts: TokenCheckerParts, most = mostTokens) {
    this.#parts = parts;
    this.#known = new GenerationMap(most);
    parts.changes.subscribe(tokenTopic, (key) => this.#forget(key));
    parts.changes.subscribe('person', (key) => this.#forget(`person:${key}`));
    parts.changes.subscribe('integration', (key) => this.#forget(`client:${key}`));
  }

  /**
   * @param authorization the value of the Authorization header
   * @returns the caller, or undefined where the token is missing or not valid; a promise only where the database is asked
   */
  authenticate(
    authorization: string | undefined,
  ): Caller | undefined | Promise<Caller | undefined> {
    if (authorization === undefined) return undefined;
    const token = bearer.exec(authorization)?.[1];
    return token === undefined ? undefined : this.check(token);
  }

  /** As `authenticate`, for the token itself. */
  check(token: string): Caller | undefined | Promise<Caller | undefined> {
    const { changes, mint } = this.#parts;
    const hashed = this.#hashes.get(token);
    const key = hashed ?? hashText(token);
    const trusted = changes.trusted();
    const known = trusted ? this.#known.get(key) : undefined;
    if (known !== undefined) {
      if (known.until > this.#now()) {
        if (hashed === undefined) this.#hashes.set(token, key);
        return known.caller;
      }
      this.#known.delete(key);
      this.#hashes.delete(token);
      return undefined;
    }
    if (!mint.recognises('access', token)) return undefined;
    const asking = trusted ? (this.#asking.get(key) ?? this.#ask(key)) : this.#read(key);
    return asking.then((found) => found?.caller);
  }

  #now(): number {
    return performance.now() + this.#parts.clock.offset;
  }

  async #read(key: string): Promise<Known | undefined> {
    const { store, clock } = this.#parts;
    const before = this.#now();
    const live = await store.find(Buffer.from(key, 'base64'), clock.offset);
    return live && { caller: live.caller, until: before + live.millisecondsLeft };
  }

  /** Requests with one token that come together share one query; what an announcement crossed is answered, not kept. */
  #ask(key: string): Promise<Known | undefined> {
    const asking = this.#read(key)
      .then((found) => {
        const current = this.#asking.get(key) === asking && this.#parts.changes.trusted();
        if (found !== undefined && current) this.#known.set(key, found);
        return found;
      })
      .finally(() => {
        if (this.#asking.get(key) === asking) this.#asking.delete(key);
      });
    this.#asking.set(key, asking);
    return asking;
  }

  #forget(key: string): void {
    this.#asking.clear();
    // A token that was ended is not kept.
    this.#hashes.clear();
    const colon = key.indexOf(':');
    const name = key.slice(colon + 1);
    const kind = key.slice(0, colon);
    if (kind === 'hash') this.#known.delete(Buffer.from(name, 'hex').toString('base64'));
    else if (kind === 'person' && name !== '*')
      this.#known.deleteWhere(({ caller }) => caller.personId === name);
    else if (kind === 'client' && name !== '*')
      this.#known.deleteWhere(({ caller }) => caller.clientId === name);
    else this.#known.clear();
  }
}
