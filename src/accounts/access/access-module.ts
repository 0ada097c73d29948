import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Log } from '../../base/values/log.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import type { AccountDirectory } from '../account/account-directory.ts';
import { findAccessToken } from './access-token-store.ts';
import { ApiKeyParser, looksLikeApiKey } from './api-key.ts';
import { ApiKeyChecker } from './api-key-checker.ts';
import type { AccessFacts, SignInSettings } from './authorize.ts';
import { isOperator } from './operator-store.ts';
import type { BearerPrincipal } from './principal.ts';
import { SigningSecrets } from './signing-secrets.ts';
import { TokenChecker } from './token-checker.ts';
import { TokenMint } from './token-mint.ts';

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

interface AccessModuleDependencies {
  readonly database: Database;
  readonly key: MasterKey;
  readonly changes: ChangeListener;
  readonly clock: Clock;
  readonly log: Log;
  readonly accounts: AccountDirectory;
  readonly signIn: SignInSettings;
}

/** Authentication, and the facts that authorization needs. */
export type AccessModule = ReturnType<typeof createAccessModule>;

export function createAccessModule(dependencies: AccessModuleDependencies) {
  const { database, key, changes, clock, log, accounts } = dependencies;
  const find = (hash: Buffer) => findAccessToken(database, hash);
  const tokens = new TokenChecker({ mint: new TokenMint(key), find, changes, clock });
  const secrets = new SigningSecrets(key);
  const keys = new ApiKeyChecker({
    database,
    keys: new ApiKeyParser(key),
    secrets,
    changes,
    clock,
    log,
  });
  const facts: AccessFacts = {
    account: (accountId) => accounts.account(accountId),
    membership: (personId, accountId) => accounts.membership(personId, accountId),
    isOperator: (personId) => isOperator(database.kysely, personId),
    ...dependencies.signIn,
  };
  return {
    authenticator: new Authenticator(tokens, keys),
    /** Keys that sign requests instead of sending themselves. */
    signers: keys as Pick<ApiKeyChecker, 'findSigning' | 'recordUse'>,
    facts,
    start: (): void => keys.start(),
    stop: (): Promise<void> => keys.stop(),
  };
}
