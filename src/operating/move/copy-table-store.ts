import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { type MoveTable, nameOfKey } from './move-catalog-store.ts';
import type { MoveSession } from './move-session-store.ts';
import { columnList, movedValues } from './moved-columns-sql.ts';

/** A copy in progress: a transaction with one snapshot of the source, and a session of the target. */
interface CopySessions {
  readonly source: MoveSession;
  readonly target: MoveSession;
  /** The schema of the installation in the target. */
  readonly targetSchema: string;
  /** About how many bytes a transaction copies, which an interrupted copy repeats. */
  readonly partBytes: number;
}

/** What was written of a table since it began. */
interface CopiedPart {
  readonly rows: number;
  /** Of the source's size, as a share from 0 to 1. */
  readonly share: number;
}

interface TableProgress {
  readonly nextPage: number;
  readonly rows: number;
  readonly finished: boolean;
}

/** A table with more than this share of a part is written without its indexes. */
const bulkShare = 8;

/**
 * Copies a table's rows in parts. Each part is committed together with the record of how far the table has come, so after any
 * interruption the rest is copied, and nothing twice.
 *
 * A part is a range of pages: reading it needs no index, and every table has pages. Rows keep their pages as long as nothing
 * writes to the source.
 * @param onPart called after each part
 * @returns the rows copied, including those of earlier runs
 */
export async function copyTable(
  sessions: CopySessions,
  table: MoveTable,
  onPart: (part: CopiedPart) => void,
): Promise<number> {
  const { target, partBytes } = sessions;
  let { nextPage, rows, finished } = await readProgress(target, table.key);
  const step = Math.max(1, Math.floor((partBytes * table.pages) / Math.max(1, table.bytes)));
  while (!finished) {
    const untilPage = Math.min(nextPage + step, table.pages);
    finished = untilPage >= table.pages;
    await target.query('begin');
    try {
      if (nextPage === 0 && table.partition === null && table.bytes > partBytes / bulkShare)
        await dropTableKeys(target, sessions.targetSchema, table.key);
      if (untilPage > nextPage) rows += await copyPages(sessions, table, nextPage, untilPage);
      await writeProgress(target, table.key, { nextPage: untilPage, rows, finished });
      await target.query('commit');
    } catch (error) {
      await target.query('rollback').catch(() => undefined);
      throw error;
    }
    nextPage = untilPage;
    onPart({ rows, share: table.pages === 0 ? 1 : nextPage / table.pages });
  }
  return rows;
}

/**
 * In binary, because that is shorter than text for the long columns (attachments, IDs, times), and neither server has to parse
 * anything. Its formats are those of the protocol that every driver uses, so they are the same from PostgreSQL 15 on; the
 * comparison at the end, which is of text, would notice a difference.
 */
async function copyPages(
  { source, target, targetSchema }: CopySessions,
  table: MoveTable,
  fromPage: number,
  untilPage: number,
): Promise<number> {
  const { from, to } = await import('pg-copy-streams');
  const reading = source.query(
    to(`copy (select ${movedValues(table).join(', ')} from only ${table.sql} as t
      where t.ctid >= '(${fromPage},0)' and t.ctid < '(${untilPage},0)') to stdout (format binary)`),
  );
  const writing = target.query(
    from(
      `copy ${nameOfKey(table.key, targetSchema)} (${columnList(table.columns)}) from stdin (format binary)`,
    ),
  );
  await pipeline(reading, writing);
  return writing.rowCount;
}

async function readProgress(target: MoveSession, key: string): Promise<TableProgress> {
  const { rows } = await target.query<TableProgress>(
    `select next_page::float8 as "nextPage", rows_copied::float8 as rows, finished
     from installation_move_progress where table_name = $1`,
    [key],
  );
  return rows[0] ?? { nextPage: 0, rows: 0, finished: false };
}

async function writeProgress(
  target: MoveSession,
  key: string,
  { nextPage, rows, finished }: TableProgress,
): Promise<void> {
  await target.query(
    `insert into installation_move_progress (table_name, next_page, rows_copied, finished) values ($1, $2, $3, $4)
     on conflict (table_name) do update
       set next_page = excluded.next_page, rows_copied = excluded.rows_copied, finished = excluded.finished`,
    [key, nextPage, rows, finished],
  );
}

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
async function dropTableKeys(target: MoveSession, schema: string, table: string): Promise<void> {
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
