import type { Database } from '../foundation/database/open-database.ts';

/**
 * Ends every lease, so that what a killed service had claimed is due at once. Only for a database that nobody else works
 * on: the embedded one, whose data folder this process has locked. Stages stay as they are: a message whose final dot
 * may have left is uncertain when it is claimed again.
 * @returns how many leases were ended
 */
export async function endOrphanedLeases(database: Database): Promise<number> {
  const { rowCount } = await database.pool.query(
    'update queue_entry set due_at = now() where lease_owner is not null and due_at > now()',
  );
  return rowCount ?? 0;
}
