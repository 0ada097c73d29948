import type { Database } from '../foundation/database/open-database.ts';
import type { Account } from './account.ts';
import { accountColumns, toAccount } from './account-store.ts';

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
