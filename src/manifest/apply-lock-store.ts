import { sql } from 'kysely';
import { advisoryLocks } from '../foundation/database/advisory-locks.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';

/**
 * Waits until nothing else changes settings, a manifest or an account's own change; the lock ends with the transaction.
 * For what reaches across accounts.
 */
export async function lockInstallation(transaction: Database['kysely']): Promise<void> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.settings}::bigint)`.execute(transaction);
}

/**
 * Waits until nothing else changes settings of this account; the lock ends with the transaction. Changes of other accounts go
 * on meanwhile, those of the installation wait.
 */
export async function lockAccount(
  transaction: Database['kysely'],
  accountId: AccountId,
): Promise<void> {
  await sql`
    select pg_advisory_xact_lock_shared(${advisoryLocks.settings}::bigint),
      pg_advisory_xact_lock(hashtextextended(${accountId}, ${advisoryLocks.settings}::bigint))`.execute(
    transaction,
  );
}
