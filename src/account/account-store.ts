import { announceChange } from '../foundation/database/announce.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { Account, RetentionDays } from './account.ts';

type Kysely = Database['kysely'];

/** Topic of announcements about accounts; the key is the account id. */
export const accountTopic = 'account';

/** The account with this id, or undefined. */
export async function readAccount(
  kysely: Kysely,
  accountId: AccountId,
): Promise<Account | undefined> {
  const row = await kysely
    .selectFrom('account')
    .select(['name', 'add_ons', 'suspended_at', 'retention_days'])
    .where('id', '=', accountId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    id: accountId,
    name: row.name,
    addOns: new Set(row.add_ons),
    suspended: row.suspended_at !== null,
    retentionDays: row.retention_days as RetentionDays,
  };
}

/** Writes an account as given, new or not, and tells all nodes at commit. */
export async function saveAccount(transaction: Kysely, account: Account): Promise<void> {
  const now = new Date();
  await transaction
    .insertInto('account')
    .values({
      id: account.id,
      name: account.name,
      add_ons: [...account.addOns].sort(),
      suspended_at: account.suspended ? now : null,
      retention_days: account.retentionDays,
    })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        name: eb.ref('excluded.name'),
        add_ons: eb.ref('excluded.add_ons'),
        // The time of the first suspension stays, until the account is active again.
        suspended_at: account.suspended
          ? eb.fn.coalesce('account.suspended_at', 'excluded.suspended_at')
          : null,
        retention_days: eb.ref('excluded.retention_days'),
      })),
    )
    .execute();
  await announceChange(transaction, accountTopic, account.id);
}
