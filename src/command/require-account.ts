import { readAccount } from '../account/account-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { OperatorError } from '../foundation/errors.ts';
import type { AccountId } from '../foundation/ids.ts';

/** An unknown account would otherwise look like an empty one. @throws OperatorError if the account doesn't exist */
export async function requireAccount(
  kysely: Database['kysely'],
  accountId: AccountId,
): Promise<void> {
  if ((await readAccount(kysely, accountId)) === undefined)
    throw new OperatorError(`Account ${accountId} not found.`);
}
