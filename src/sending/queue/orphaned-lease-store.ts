import type { Database } from '../../base/database/open-database.ts';

/**
 * Ends every lease so that a killed service's messages are due at once. Only safe for the embedded database, whose data
 * folder this process has locked. Stages are kept: a message whose final dot may have been sent becomes uncertain when
 * claimed.
 * @returns how many leases were ended
 */
export async function endOrphanedLeases(database: Database): Promise<number> {
  const { rowCount } = await database.pool.query(
    'update queued_delivery set due_at = now() where lease_owner is not null and due_at > now()',
  );
  return rowCount ?? 0;
}
