import type { Database } from './open-database.ts';

/** @returns the name of the role in use where it is a superuser, which reads and runs files on the server; else undefined */
export async function superuserName(database: Database): Promise<string | undefined> {
  const { rows } = await database.pool.query<{ name: string }>(
    'select rolname as name from pg_roles where rolname = current_user and rolsuper',
  );
  return rows[0]?.name;
}
