import type { AccountDirectory } from '../account/account-directory.ts';
import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { AccessTokenStore } from './access-token-store.ts';
import { ApiKeyParser } from './api-key.ts';
import { ApiKeyChecker } from './api-key-checker.ts';
import { Authenticator } from './authenticator.ts';
import type { AccessFacts, SignInSettings } from './authorize.ts';
import { isOperator } from './operator-store.ts';
import { TokenChecker } from './token-checker.ts';
import { TokenMint } from './token-mint.ts';

export interface AccessModuleDependencies {
  readonly database: Database;
  readonly key: MasterKey;
  readonly changes: ChangeListener;
  readonly clock: Clock;
  readonly log: Log;
  readonly accounts: AccountDirectory;
  readonly signIn: SignInSettings;
}

/** Authentication, and the facts that authorization needs. */
export interface AccessModule {
  readonly authenticator: Authenticator;
  readonly facts: AccessFacts;
  start(): void;
  stop(): Promise<void>;
}

export function createAccessModule(dependencies: AccessModuleDependencies): AccessModule {
  const { database, key, changes, clock, log, accounts } = dependencies;
  const store = new AccessTokenStore(database);
  const tokens = new TokenChecker({ mint: new TokenMint(key), store, changes, clock });
  const keys = new ApiKeyChecker({ database, keys: new ApiKeyParser(key), changes, clock, log });
  return {
    authenticator: new Authenticator(tokens, keys),
    facts: {
      account: (accountId) => accounts.account(accountId),
      membership: (personId, accountId) => accounts.membership(personId, accountId),
      isOperator: (personId) => isOperator(database.kysely, personId),
      ...dependencies.signIn,
    },
    start: () => keys.start(),
    stop: () => keys.stop(),
  };
}
