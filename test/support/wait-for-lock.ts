import type { Database } from '../../src/base/database/open-database.ts';
import { waitFor } from './wait-for.ts';

/** Waits until statements on this database are blocked by locks. */
export async function waitForLock({ pool }: Database, statements = 1): Promise<void> {
  await waitFor('statements to block on locks', async () => {
    const { rowCount } = await pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return (rowCount ?? 0) >= statements;
  });
}
