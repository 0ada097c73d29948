import { readAccount } from '../account/account-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { OperatorError } from '../foundation/errors.ts';
import type { AccountId } from '../foundation/ids.ts';

/** An empty answer would say that the account has nothing. @throws OperatorError where there is no such account */
export async function requireAccount(
  kysely: Database['kysely'],
  accountId: AccountId,
): Promise<void> {
  if ((await readAccount(kysely, accountId)) === undefined)
    throw new OperatorError(`There is no account ${accountId}.`);
}
