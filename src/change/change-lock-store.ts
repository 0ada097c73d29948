import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';

/** Key of the installation-wide advisory lock. */
const installationKey = 7_233_480_022;

/**
 * Locks the settings of the whole installation until the transaction ends, for changes across accounts.
 */
export async function lockInstallation(transaction: Database['kysely']): Promise<void> {
  await sql`select pg_advisory_xact_lock(${installationKey}::bigint)`.execute(transaction);
}

/**
 * Locks the settings of an account until the transaction ends. Other accounts can still change; installation-wide changes
 * wait.
 */
export async function lockAccount(
  transaction: Database['kysely'],
  accountId: string,
): Promise<void> {
  await sql`
    select pg_advisory_xact_lock_shared(${installationKey}::bigint),
      pg_advisory_xact_lock(hashtextextended(${accountId}, ${installationKey}::bigint))`.execute(
    transaction,
  );
}
