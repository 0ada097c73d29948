import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';

/** The advisory lock of the whole installation. */
const installationKey = 7_233_480_022;

/**
 * Waits until nothing else changes settings, a manifest or an account's own change; the lock ends with the transaction.
 * For what reaches across accounts.
 */
export async function lockInstallation(transaction: Database['kysely']): Promise<void> {
  await sql`select pg_advisory_xact_lock(${installationKey}::bigint)`.execute(transaction);
}

/**
 * Waits until nothing else changes settings of this account; the lock ends with the transaction. Changes of other accounts go
 * on meanwhile, those of the installation wait.
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
