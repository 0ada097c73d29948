import { sql } from 'kysely';
import { advisoryLocks } from '../foundation/database/advisory-locks.ts';
import type { Database } from '../foundation/database/open-database.ts';

/** Locks the settings of the whole installation until the transaction ends, for changes across accounts. */
export async function lockInstallation(transaction: Database['kysely']): Promise<void> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.settings}::bigint)`.execute(transaction);
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
    select pg_advisory_xact_lock_shared(${advisoryLocks.settings}::bigint),
      pg_advisory_xact_lock(hashtextextended(${accountId}, ${advisoryLocks.settings}::bigint))`.execute(
    transaction,
  );
}
