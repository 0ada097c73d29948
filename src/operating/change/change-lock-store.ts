import { checkAccountLimits } from '../../accounts/account/account-limit-store.ts';
import { lockForTransaction, lockPartForTransaction } from '../../base/database/advisory-locks.ts';
import type { Database, DatabaseTransaction, Kysely } from '../../base/database/open-database.ts';
import { isRetryable, isUniqueViolation } from '../../base/database/sqlstate.ts';

/** Locks the settings of the whole installation until the transaction ends, for changes across accounts. */
export async function lockInstallation(transaction: Kysely): Promise<void> {
  await lockForTransaction(transaction, 'settings');
}

/**
 * Locks the settings of an account until the transaction ends. Other accounts can still change; installation-wide changes
 * wait.
 */
export async function lockAccount(transaction: Kysely, accountId: string): Promise<void> {
  await lockPartForTransaction(transaction, accountId);
}

const maxAttempts = 5;

/**
 * Runs a change in a transaction that holds the settings lock of the account, or of the installation if there is no account.
 * Do slow work, such as compiling, before it.
 * @throws AccountLimitReached if the account would have too much of something
 */
export async function runLocked<Result>(
  database: Database,
  accountId: string | undefined,
  work: (transaction: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await database.kysely.transaction().execute(async (transaction) => {
        if (accountId === undefined) await lockInstallation(transaction);
        else await lockAccount(transaction, accountId);
        const result = await work(transaction);
        if (accountId !== undefined) await checkAccountLimits(database, transaction, accountId);
        return result;
      });
    } catch (error) {
      // After a unique violation, the next attempt finds the row that a concurrent change has created.
      const canRetry = isRetryable(error) || isUniqueViolation(error);
      if (!canRetry || attempt >= maxAttempts) throw error;
    }
  }
}
