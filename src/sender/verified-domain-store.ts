import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';

/** Whether an account has shown by DNS that a domain is its own. */
export async function hasVerifiedDomain(
  kysely: Database['kysely'],
  accountId: AccountId,
  domain: string,
): Promise<boolean> {
  const row = await kysely
    .selectFrom('sending_domain')
    .select('domain')
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .where('state', '=', 'verified')
    .executeTakeFirst();
  return row !== undefined;
}
