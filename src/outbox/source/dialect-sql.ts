import pg from 'pg';
import type { TextRow } from '../../base/network/guarded-database.ts';
import { mysqlParameter } from '../../base/network/guarded-mysql.ts';

export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const members = (type: (name: string) => string): string =>
  ['id', 'status', 'message_id', 'error'].map((name) => `${name} ${type(name)}`).join(', ');
const regclass = `to_regclass('"' || replace($1, '.', '"."') || '"')`;
/** A statement's only parameter is the name of a table, or a JSON list that is read as table `a` of texts. */
const postgresRows = `json_to_recordset($1::json) as a (${members(() => 'text')})`;

const postgres = {
  quote: (table: string) => table.split('.').map(pg.escapeIdentifier).join('.'),
  /** For a new connection. */
  start: ['listen signalpost_outbox'],
  /** Whether the server can't be written to: `t` or `1`. */
  isStandby: 'select pg_is_in_recovery() as standby',
  // Settings of the transaction alone, because a pooler gives the connection to others after it.
  begin: `begin isolation level read committed; set local lock_timeout = '2s'; set local statement_timeout = '20s'`,
  /** The columns of a table: how values are cast to them, a hint to find rows by them, and the publication of the table. */
  columns: `
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, n.nspname as schema, c.relname as relation,
      (select min(pubname) from pg_publication_tables
       where schemaname = n.nspname and tablename = c.relname) as publication
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    where c.oid = ${regclass} and a.attnum > 0 and not a.attisdropped`,
  /** The names of a table's check constraints. */
  constraints: `select conname as name from pg_constraint where contype = 'c' and conrelid = ${regclass}`,
  text: 'text',
  /** RFC 3339, in UTC. */
  time: (column: string) =>
    `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  /** An expression that changes with the row `t`. */
  version: (_columns: readonly string[]) => 't.xmin',
  /**
   * How far the server has written and flushed its log, where others see a commit before it is flushed. PostgreSQL shows none
   * before, and a MySQL with a binary log flushes that first.
   */
  logEnds: null as string | null,
  rows: postgresRows,
  /** A text of `a` as what the column has. */
  cast: (text: string, { type }: TextRow) => `${text}::${type}`,
  /** Sets columns of the rows of `t` that are in `a`. @param table with its alias `t` */
  update: (table: string, on: string, sets: readonly (readonly [name: string, value: string])[]) =>
    `update ${table} set ${sets.map((set) => set.join(' = '))} from ${postgresRows} where ${on}`,
  remove: (table: string, on: string) => `delete from ${table} using ${postgresRows} where ${on}`,
  /** Whether JSON has a member. */
  has: (column: string, path: readonly string[]) =>
    `${column}::jsonb #> ${literal(`{${path.map((name) => JSON.stringify(name))}}`)} is not null`,
  /** Rows of the past may lack values. */
  added: ' not valid',
};

const bareName = `substring_index(${mysqlParameter}, '.', -1)`;
const schemaName = `if(locate('.', ${mysqlParameter}) > 0, substring_index(${mysqlParameter}, '.', 1), database())`;
const mysqlRows = `json_table(${mysqlParameter}, '$[*]' columns (${members((name) => `longtext character set utf8mb4 path '$.${name}'`)})) as a`;

const mysql: typeof postgres = {
  quote: (table) => `\`${table.replaceAll('`', '``').replaceAll('.', '`.`')}\``,
  // Repeatable reads would lock the gap that the next row is inserted into.
  start: [
    'set session transaction isolation level read committed',
    `set session time_zone = '+00:00', session lock_wait_timeout = 2, session innodb_lock_wait_timeout = 2`,
  ],
  isStandby: 'select @@global.read_only as standby',
  begin: 'start transaction',
  columns: `
    select column_name as name, column_type as type, character_set_name as charset, collation_name as collation, (
      select concat('force index (\`', replace(index_name, '\`', '\`\`'), '\`)') from information_schema.statistics s
      where s.table_schema = c.table_schema and s.table_name = c.table_name and s.column_name = c.column_name and seq_in_index = 1
      order by non_unique limit 1) as hint
    from information_schema.columns c where table_schema = ${schemaName} and table_name = ${bareName}`,
  constraints: `
    select constraint_name as name from information_schema.table_constraints
    where constraint_type = 'CHECK' and table_schema = ${schemaName} and table_name = ${bareName}`,
  text: 'char',
  time: (column) => `date_format(${column}, '%Y-%m-%dT%H:%i:%s.%fZ')`,
  version: (columns) => `md5(concat_ws(',', ${columns.map((name) => `coalesce(t.${name}, '-')`)}))`,
  logEnds: `
    show global status where variable_name in ('Innodb_lsn_current', 'Innodb_lsn_flushed')
      and @@log_bin = 0 and @@innodb_flush_log_at_trx_commit = 1`,
  rows: mysqlRows,
  cast(text, { type, charset, collation }) {
    if (charset != null) return `convert(${text} using ${charset}) collate ${collation}`;
    const isWhole = type?.includes('int') === true;
    return isWhole ? `cast(${text} as ${type.includes('unsigned') ? 'unsigned' : 'signed'})` : text;
  },
  // In this order and by this index, it touches no other rows, whose locks it would wait for.
  update: (table, on, sets) =>
    `update ${mysqlRows} straight_join ${table} on ${on} set ${sets.map((set) => `t.${set.join(' = ')}`)}`,
  remove: (table, on) => `delete t from ${mysqlRows} straight_join ${table} on ${on}`,
  has(column, path) {
    const place = ['$', ...path.map((name) => JSON.stringify(name))].join('.');
    // What a backslash means depends on the `sql_mode`.
    const hex = `convert(x'${Buffer.from(place).toString('hex')}' using utf8mb4)`;
    return `json_contains_path(${column}, 'one', ${place.includes('\\') ? hex : literal(place)})`;
  },
  added: '',
};

export const tableDialects = { postgres, mysql };
