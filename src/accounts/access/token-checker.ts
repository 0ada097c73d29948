import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import type { findAccessToken } from './access-token-store.ts';
import { CredentialCache } from './credential-cache.ts';
import type { TokenPrincipal } from './principal.ts';
import { hashToken, type TokenMint } from './token-mint.ts';

/** Notification topic for tokens; the key is `hash:HEX`, `person:ID` or `client:ID`. */
export const tokenTopic = 'token';

interface TokenCheckerDependencies {
  readonly mint: TokenMint;
  /** Reads a token from the database by its hash. */
  readonly find: (hash: Buffer) => ReturnType<typeof findAccessToken>;
  readonly changes: ChangeListener;
  readonly clock: Clock;
}

/**
 * Checks access tokens. Forged tokens fail the checksum without a query; notifications evict tokens that were revoked
 * or whose person or integration was disabled.
 */
export class TokenChecker {
  readonly #mint: TokenMint;
  readonly #cache: CredentialCache<TokenPrincipal>;

  /** @param max max tokens kept in memory */
  constructor({ mint, find, changes, clock }: TokenCheckerDependencies, max?: number) {
    this.#mint = mint;
    const read = (token: string) => find(hashToken(token));
    this.#cache = new CredentialCache({ changes, clock, read, max });
    changes.subscribe(tokenTopic, (key) => this.#invalidate(key));
    changes.subscribe('person', (key) => this.#invalidate(`person:${key}`));
    changes.subscribe('integration', (key) => this.#invalidate(`client:${key}`));
  }

  /** @returns undefined if the token is not valid; a promise only if the database is queried */
  check(token: string): MaybePromise<TokenPrincipal | undefined> {
    return this.#cache.find(token, () => this.#mint.recognizes('access', token));
  }

  #invalidate(key: string): void {
    const colon = key.indexOf(':');
    const name = key.slice(colon + 1);
    const kind = key.slice(0, colon);
    if (kind === 'hash') this.#cache.invalidateHash(Buffer.from(name, 'hex').toString('base64'));
    else if (kind === 'person' && name !== '*')
      this.#cache.invalidate(({ personId }) => personId === name);
    else if (kind === 'client' && name !== '*')
      this.#cache.invalidate(({ clientId }) => clientId === name);
    else this.#cache.invalidate();
  }
}
