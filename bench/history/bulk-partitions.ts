import { sql } from 'kysely';
import type { Database } from '../../src/foundation/database/open-database.ts';

type Kysely = Database['kysely'];

/** A partition that stands apart while it is filled, and how to put it back. */
export interface DetachedPartition {
  readonly name: string;
  readonly parent: string;
  readonly bound: string;
}

/** Takes an empty partition out of its table. */
export async function detachPartition(kysely: Kysely, name: string): Promise<DetachedPartition> {
  const { rows } = await sql<{ parent: string; bound: string }>`
    select p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
    where c.relname = ${name}`.execute(kysely);
  const [row] = rows;
  if (row === undefined) throw new Error(`there is no partition ${name}`);
  await sql`alter table ${sql.table(row.parent)} detach partition ${sql.table(name)}`.execute(
    kysely,
  );
  return { name, ...row };
}

/** Statements that make a table's key and its indexes. */
export async function readIndexes(kysely: Kysely, table: string): Promise<string[]> {
  const { rows } = await sql<{ make: string }>`
    select coalesce('alter table ' || ${table}::text || ' add constraint ' || k.conname || ' ' || pg_get_constraintdef(k.oid),
      pg_get_indexdef(x.indexrelid)) as make
    from pg_index x left join pg_constraint k on k.conindid = x.indexrelid and k.contype = 'p'
    where x.indrelid = ${table}::regclass`.execute(kysely);
  return rows.map(({ make }) => make);
}

/** Empties a table and drops its indexes. In the transaction that fills it its rows need no log then (`wal_level` minimal). */
export async function clearTable(transaction: Kysely, table: string): Promise<void> {
  await sql`truncate ${sql.table(table)}`.execute(transaction);
  const { rows } = await sql<{ drop: string }>`
    select coalesce('alter table ' || ${table}::text || ' drop constraint ' || k.conname, 'drop index ' || x.indexrelid::regclass) as drop
    from pg_index x left join pg_constraint k on k.conindid = x.indexrelid and k.contype = 'p'
    where x.indrelid = ${table}::regclass`.execute(transaction);
  for (const row of rows) await sql.raw(row.drop).execute(transaction);
}

/** Makes them. */
export async function createIndexes(
  transaction: Kysely,
  indexes: readonly string[],
): Promise<void> {
  for (const statement of indexes) await sql.raw(statement).execute(transaction);
}

/** Puts it back. */
export async function attachPartition(
  kysely: Kysely,
  { name, parent, bound }: DetachedPartition,
): Promise<void> {
  await sql`alter table ${sql.table(parent)} attach partition ${sql.table(name)} ${sql.raw(bound)}`.execute(
    kysely,
  );
}
