import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';

/** True once the demo manifest was applied, even if the demo has been removed since. */
export async function isDemoApplied(kysely: Kysely): Promise<boolean> {
  const row = await kysely
    .selectFrom('installation')
    .select('demo_applied_at')
    .executeTakeFirstOrThrow();
  return row.demo_applied_at !== null;
}

/** Records that the demo manifest was applied, in the same transaction. */
export async function markDemoApplied(transaction: Kysely): Promise<void> {
  await transaction
    .updateTable('installation')
    .set({ demo_applied_at: sql<Date>`now()` })
    .execute();
}
