import type { MaybePromise } from '../foundation/maybe-promise.ts';
import { looksLikeApiKey } from './api-key.ts';
import type { ApiKeyChecker } from './api-key-checker.ts';
import type { BearerPrincipal } from './principal.ts';
import type { TokenChecker } from './token-checker.ts';

/** RFC 6750 section 2.1. */
const bearer = /^bearer +([^\s]+) *$/i;

/** Authenticates requests by their `Authorization` header, which carries an access token or an API key. */
export class Authenticator {
  readonly #tokens: Pick<TokenChecker, 'check'>;
  readonly #keys: Pick<ApiKeyChecker, 'check'>;

  constructor(tokens: Pick<TokenChecker, 'check'>, keys: Pick<ApiKeyChecker, 'check'>) {
    this.#tokens = tokens;
    this.#keys = keys;
  }

  /**
   * @param authorization the value of the header
   * @returns undefined if it is missing or not valid; a promise only if the database is queried
   */
  authenticate(authorization: string | undefined): MaybePromise<BearerPrincipal | undefined> {
    if (authorization === undefined) return undefined;
    const text = bearer.exec(authorization)?.[1];
    if (text === undefined) return undefined;
    return looksLikeApiKey(text) ? this.#keys.check(text) : this.#tokens.check(text);
  }
}
