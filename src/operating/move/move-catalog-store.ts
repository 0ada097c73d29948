import pg from 'pg';

/** Tables that describe a database itself. Each database has its own. */
const ownTables = new Set(['schema_migration', 'installation_move', 'installation_move_progress']);

/** A column with its type, as PostgreSQL writes it. */
export interface MoveColumn {
  readonly name: string;
  readonly type: string;
  /** Null for the default. */
  readonly statisticsTarget: number | null;
}

/** A partition of a table: its parent, as `MoveTable.key`, and its bounds as in `create table`. */
interface MovePartition {
  readonly parent: string;
  readonly bound: string;
}

/** A table with rows: not partitioned, or a partition. */
export interface MoveTable {
  /** Its name, the same in all databases. */
  readonly key: string;
  /** The key of the table that it is a partition of, at the top; otherwise its own. */
  readonly root: string;
  /** Schema and name, quoted. */
  readonly sql: string;
  readonly partition: MovePartition | null;
  /** Storage parameters, such as `fillfactor=80`. */
  readonly options: readonly string[];
  /** Without generated columns. */
  readonly columns: readonly MoveColumn[];
  /** Of its main part, without long values. */
  readonly pages: number;
  /** With long values, without indexes. */
  readonly bytes: number;
}

/** The installation's objects in a database. */
export interface MoveCatalog {
  /** The schema of the installation. */
  readonly schema: string;
  readonly tables: readonly MoveTable[];
  /** Keys of sequences. */
  readonly sequences: readonly string[];
  /** Tables that refer to others, by the keys of their roots. */
  readonly references: readonly (readonly [from: string, to: string])[];
}

const readTables = `
  select c.relname::text as key, r.relname::text as root, format('%I.%I', n.nspname, c.relname) as sql,
    case when c.relispartition then json_build_object('parent', p.relname, 'bound', pg_get_expr(c.relpartbound, c.oid)) end
      as partition,
    coalesce(c.reloptions, '{}') as options, pg_table_size(c.oid)::float8 as bytes,
    (pg_relation_size(c.oid) / current_setting('block_size')::integer)::float8 as pages,
    (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
        'statisticsTarget', nullif(a.attstattarget, -1)) order by a.attnum)
      from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_class r on r.oid = case when c.relispartition then pg_partition_root(c.oid)::oid else c.oid end
  left join pg_inherits i on c.relispartition and i.inhrelid = c.oid
  left join pg_class p on p.oid = i.inhparent
  where n.nspname = $1 and c.relkind = 'r' and c.relpersistence <> 't'
  order by 1`;

const readReferences = `
  select distinct r.relname::text as from, t.relname::text as to
  from pg_constraint k
  join pg_class c on c.oid = k.conrelid join pg_class d on d.oid = k.confrelid
  join pg_class r on r.oid = case when c.relispartition then pg_partition_root(c.oid)::oid else c.oid end
  join pg_class t on t.oid = case when d.relispartition then pg_partition_root(d.oid)::oid else d.oid end
  join pg_namespace n on n.oid = r.relnamespace
  where k.contype = 'f' and n.nspname = $1`;

const readSequences = `
  select c.relname::text as key from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind = 'S' order by 1`;

/** Reads from PostgreSQL's catalog what an installation consists of, so that no table can be forgotten. */
export async function readMoveCatalog(client: pg.ClientBase): Promise<MoveCatalog> {
  const installed = await client.query<{ schema: string }>(
    "select relnamespace::regnamespace::text as schema from pg_class where oid = 'schema_migration'::regclass",
  );
  const schema = installed.rows[0]?.schema ?? '';
  const tables = await client.query<MoveTable>(readTables, [schema]);
  const references = await client.query<{ from: string; to: string }>(readReferences, [schema]);
  const sequences = await client.query<{ key: string }>(readSequences, [schema]);
  return {
    schema,
    tables: tables.rows.filter(({ key }) => !ownTables.has(key)),
    sequences: sequences.rows.map(({ key }) => key),
    references: references.rows.map(({ from, to }) => [from, to] as const),
  };
}

/** The quoted name of a key in a database whose installation is in `schema`. */
export function nameOfKey(key: string, schema: string): string {
  return `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(key)}`;
}

/**
 * Orders tables so that each comes after those it refers to: rows can then be written while foreign keys are checked, without
 * a superuser's rights.
 * @param references pairs of a table and one that it refers to; other names are ignored
 * @throws Error if tables refer to each other in a circle
 */
export function orderTables(
  names: readonly string[],
  references: readonly (readonly [from: string, to: string])[],
): string[] {
  const open = new Set(names);
  const ordered: string[] = [];
  while (open.size > 0) {
    const free = [...open].filter(
      (name) => !references.some(([from, to]) => from === name && to !== name && open.has(to)),
    );
    if (free.length === 0) throw new Error(`${[...open].join(', ')} refer to each other`);
    for (const name of free) {
      open.delete(name);
      ordered.push(name);
    }
  }
  return ordered;
}
