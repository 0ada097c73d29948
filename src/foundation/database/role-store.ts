import type { Database } from './open-database.ts';

/** @returns the current role if it is a superuser, which can read and run files on the server; otherwise undefined */
export async function superuserName(database: Database): Promise<string | undefined> {
  const { rows } = await database.pool.query<{ name: string }>(
    'select rolname as name from pg_roles where rolname = current_user and rolsuper',
  );
  return rows[0]?.name;
}
