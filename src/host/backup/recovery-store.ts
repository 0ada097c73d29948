import { withClient } from '../embedded-database/database-client.ts';
import type { ConnectionSettings } from '../embedded-database/database-password.ts';

/**
 * When the last transaction that recovery replayed was committed.
 * @returns undefined if none was replayed
 */
export async function readLastReplayedTime(admin: ConnectionSettings): Promise<Date | undefined> {
  return await withClient(admin, async (client) => {
    const { rows } = await client.query<{ at: Date | null }>(
      'select pg_last_xact_replay_timestamp() as at',
    );
    return rows[0]?.at ?? undefined;
  });
}

/**
 * Reads every row of every table, so that PostgreSQL checks the checksums of all pages.
 * @returns the number of tables and rows
 */
export async function readAllTables(
  admin: ConnectionSettings,
): Promise<{ readonly tables: number; readonly rows: number }> {
  return await withClient(admin, async (client) => {
    const tables = await client.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c
       where c.relkind in ('r', 'm', 't') and c.relpersistence = 'p'`,
    );
    // An index scan would return without reading the rows.
    await client.query(
      'set enable_indexonlyscan = off; set enable_indexscan = off; set enable_bitmapscan = off',
    );
    let total = 0;
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ count: string }>(`select count(*) from ${name}`);
      total += Number(rows[0]?.count ?? 0);
    }
    return { tables: tables.rows.length, rows: total };
  });
}
