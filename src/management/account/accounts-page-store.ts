import type { Account, RetentionDays } from '../../account/account.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId } from '../../foundation/ids.ts';

/** Accounts of the installation by id, after one. */
export async function readAccountPage(
  kysely: Database['kysely'],
  after: string,
  limit: number,
): Promise<Account[]> {
  const rows = await kysely
    .selectFrom('account')
    .select(['id', 'name', 'add_ons', 'suspended_at', 'retention_days'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    id: row.id as AccountId,
    name: row.name,
    addOns: new Set(row.add_ons),
    suspended: row.suspended_at !== null,
    retentionDays: row.retention_days as RetentionDays,
  }));
}
