import type { Account } from '../../account/account.ts';
import { accountColumns, toAccount } from '../../account/account-store.ts';
import type { Database } from '../../foundation/database/open-database.ts';

/** Accounts of the installation, ordered by id, after the given one. */
export async function readAccountPage(
  kysely: Database['kysely'],
  after: string,
  limit: number,
): Promise<Account[]> {
  const rows = await kysely
    .selectFrom('account')
    .select(accountColumns)
    .where('id', '>', after)
    .where('system', '=', false)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toAccount);
}
