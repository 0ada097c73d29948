import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';

/** One advisory lock for the whole installation. */
const lockKey = 7_233_480_022;

/** Waits until no other manifest is being applied; the lock ends with the transaction. */
export async function lockApply(transaction: Database['kysely']): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockKey}::bigint)`.execute(transaction);
}
