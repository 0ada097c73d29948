import type { Database, DatabaseTransaction } from '../foundation/database/open-database.ts';
import { isRetryable, isUniqueViolation } from '../foundation/database/sqlstate.ts';
import { lockAccount, lockInstallation } from './change-lock-store.ts';

const maxAttempts = 5;

/**
 * Runs a change in a transaction that no other change of the account's settings overlaps, and no change of the installation's
 * where there is no account. Changes of other accounts go on beside it. It must be short: what takes long, such as compiling,
 * is done before.
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
        return work(transaction);
      });
    } catch (error) {
      // What somebody else made meanwhile, such as the same person, is there when the next attempt looks.
      const again = isRetryable(error) || isUniqueViolation(error);
      if (!again || attempt >= maxAttempts) throw error;
    }
  }
}
