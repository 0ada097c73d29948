import type { Database } from '../../src/foundation/database/open-database.ts';
import { waitFor } from './wait-for.ts';

/** Waits until a statement on this database is blocked by a lock. */
export async function waitForLock({ pool }: Database): Promise<void> {
  await waitFor('a statement to block on a lock', async () => {
    const { rowCount } = await pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return (rowCount ?? 0) > 0;
  });
}
