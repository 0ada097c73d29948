import pg from 'pg';
import { nameOfKey } from './move-catalog-store.ts';
import type { MoveSession } from './move-session-store.ts';

/** A constraint or index that makes writing rows slow, or that other tables rely on. */
interface TableKey {
  /** Of its table. */
  readonly key: string;
  readonly name: string;
  /** Foreign keys come last, because they need the unique indexes of other tables. */
  readonly kind: 'unique' | 'index' | 'foreign';
  /** What comes after its name in `alter table … add constraint`, or after its table in `create index`. */
  readonly definition: string;
  /** Of an index that isn't of a constraint. */
  readonly unique: boolean;
}

/** Partitions get theirs when they are attached. */
const readKeys = `
  with tables as (
    select oid, relname::text as key from pg_class
    where relnamespace = $1::regnamespace and relkind = 'r' and not relispartition)
  select t.key, k.conname as name, case k.contype when 'f' then 'foreign' else 'unique' end as kind,
    pg_get_constraintdef(k.oid) as definition, false as unique
  from pg_constraint k join tables t on t.oid = k.conrelid where k.contype in ('p', 'u', 'x', 'f')
  union all
  select t.key, c.relname, 'index', regexp_replace(pg_get_indexdef(c.oid), '^.*? USING ', 'using '), i.indisunique
  from pg_index i join tables t on t.oid = i.indrelid join pg_class c on c.oid = i.indexrelid
  where not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))`;

async function readTableKeys(session: MoveSession, schema: string): Promise<TableKey[]> {
  const { rows } = await session.query<TableKey>(readKeys, [pg.escapeIdentifier(schema)]);
  return rows;
}

/**
 * Drops the foreign keys and indexes of a table before many rows are written: checking and adding each row takes three times as
 * long as building them at the end. Those that other tables refer to stay.
 */
export async function dropTableKeys(
  target: MoveSession,
  schema: string,
  table: string,
): Promise<void> {
  const { rows } = await target.query<{ name: string; isConstraint: boolean }>(
    `select conname as name, true as "isConstraint" from pg_constraint k
     where conrelid = $1::regclass and (contype = 'f' or contype in ('p', 'u', 'x')
       and not exists (select from pg_constraint f where f.contype = 'f' and f.conindid = k.conindid))
     union all
     select indexrelid::regclass::text, false from pg_index i
     where indrelid = $1::regclass and not exists (
       select from pg_constraint k where k.conindid = i.indexrelid)`,
    [nameOfKey(table, schema)],
  );
  for (const { name, isConstraint } of rows)
    await target.query(
      isConstraint
        ? `alter table ${nameOfKey(table, schema)} drop constraint ${pg.escapeIdentifier(name)}`
        : `drop index ${name}`,
    );
}

/**
 * Creates the indexes and foreign keys that the source has and the target lacks.
 * @param onKey called before each, with the name of its table
 */
export async function restoreTableKeys(
  source: { readonly session: MoveSession; readonly schema: string },
  target: { readonly session: MoveSession; readonly schema: string },
  tables: ReadonlySet<string>,
  onKey: (table: string) => void,
): Promise<void> {
  const existing = await readTableKeys(target.session, target.schema);
  const names = new Set(existing.map(({ key, name }) => `${key} ${name}`));
  const missing = (await readTableKeys(source.session, source.schema)).filter(
    ({ key, name }) => tables.has(key) && !names.has(`${key} ${name}`),
  );
  for (const kind of ['unique', 'index', 'foreign'] as const)
    for (const key of missing.filter((one) => one.kind === kind)) {
      onKey(key.key);
      await target.session.query(statementOf(key, target.schema));
    }
}

function statementOf({ key, name, kind, definition, unique }: TableKey, schema: string): string {
  const table = nameOfKey(key, schema);
  const quoted = pg.escapeIdentifier(name);
  return kind === 'index'
    ? `create ${unique ? 'unique ' : ''}index ${quoted} on ${table} ${definition}`
    : `alter table ${table} add constraint ${quoted} ${definition}`;
}
