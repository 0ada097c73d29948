import type { Database } from './open-database.ts';

/** The database's clock. */
export async function readServerTime(database: Database): Promise<Date> {
  const answer = await database.pool.query<{ now: Date }>('select clock_timestamp() as now');
  return answer.rows[0]?.now ?? new Date(Number.NaN);
}
