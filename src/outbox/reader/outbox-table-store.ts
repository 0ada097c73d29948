import { setTimeout as delay } from 'node:timers/promises';
import type { GuardedClient, TextRow } from '../../base/network/guarded-database.ts';
import { tableDialects } from '../source/dialect-sql.ts';
import type { OutboxSource } from '../source/source-schemas.ts';
import { TableProblem } from './describe-failure.ts';

/** A row to send, as its table has it; JSON as text. */
export interface OutboxRow {
  readonly id: string;
  /** Changes with the row, so that an answer isn't written to other content. */
  readonly version: string;
  readonly template: string | null;
  readonly to_address: string | null;
  readonly data: string | null;
  readonly options: string | null;
  /** RFC 3339, in UTC. */
  readonly send_at: string | null;
  /** The message that the row had before its status was reset. */
  readonly message_id: string | null;
  /** Bytes of data and options. If there are more than `maxRowBytes`, both are null. */
  readonly size: string;
}

/** What became of a row. */
export interface RowAnswer extends Pick<OutboxRow, 'id' | 'message_id' | 'version'> {
  readonly status: 'accepted' | 'failed';
  /** JSON. */
  readonly error: string | null;
}

/** Data and options of a row in bytes of JSON text, as large as the body of a send. */
export const maxRowBytes = 256 * 1024;
/** Rows read at a time. */
export const maxPageRows = 100;
const maxPageBytes = 1024 * 1024;
/** A page, its ids and addresses, and what the protocol adds. */
export const maxAnswerBytes = 4 * maxPageBytes;
/** No index can have longer ids. */
export const maxIdLength = 3_000;
const maxTextLength = 1_000;
/** A server flushes its log with each commit, and each second otherwise. */
const maxFlushMs = 10_000;
const flushPollMs = 5;

type Columns = ReadonlyMap<string | null | undefined, TextRow>;

/** The columns of the content of a row, and of an answer. */
const content = ['template', 'to_address', 'data', 'options', 'send_at'];
const answered = ['status', 'message_id', 'error', 'processed_at'];

export type OutboxTable = ReturnType<typeof outboxTable>;

/**
 * A table of an account's own database, and a second one for the answers if there is one. Every transaction is short, and waits for
 * none of the account's for long.
 * @param source its tables have names of `tableNamePattern`
 */
export function outboxTable(client: GuardedClient, source: OutboxSource) {
  const dialect = tableDialects[source.dialect];
  const { rows: given, text } = dialect;
  const isApart = source.answers !== null;
  const table = dialect.quote(source.table);
  const answerTable = dialect.quote(source.answers ?? source.table);
  let columns: Columns = new Map();
  let answerColumns = columns;

  async function columnsOf(name: string, ...required: string[]): Promise<Columns> {
    const rows = await client.query(dialect.columns, name);
    if (rows.length === 0)
      throw new TableProblem('TABLE_MISSING', `the table ${name} doesn’t exist`);
    const found = new Map(rows.map((row) => [row.name, row]));
    const missing = required.filter((column) => !found.has(column));
    if (missing.length === 0) return found;
    throw new TableProblem('COLUMN_MISSING', `the table ${name} has no column ${missing}`);
  }

  /** A statement whose parameter is a list. */
  const run = (sql: string, list?: readonly object[]) =>
    client.query(sql, list && JSON.stringify(list));
  const byId = (ids: readonly string[]) => ids.map((id) => ({ id }));

  async function inTransaction<Result>(work: () => Promise<Result>): Promise<Result> {
    await client.query(dialect.begin);
    try {
      const result = await work();
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      throw error;
    }
  }

  /** Waits until what was read is flushed. @throws TableProblem if that takes long, as on a disk that hangs */
  async function waitForLog(): Promise<void> {
    if (dialect.logEnds === null) return;
    const until = performance.now() + maxFlushMs;
    let end: number | undefined;
    for (;;) {
      const rows = await client.query(dialect.logEnds);
      const ends = new Map(rows.map((row) => [row.Variable_name, Number(row.Value)]));
      const flushed = ends.get('Innodb_lsn_flushed');
      end ??= ends.get('Innodb_lsn_current');
      if (flushed === undefined || end === undefined || flushed >= end) return;
      if (performance.now() > until)
        throw new TableProblem('STATEMENT_FAILED', 'the server doesn’t flush its log');
      await delay(flushPollMs);
    }
  }

  const identity = (): string => {
    const version = dialect.version(content.filter((name) => columns.has(name)));
    return `left(cast(t.id as ${text}), ${maxIdLength}) as id, cast(${version} as ${text}) as version`;
  };
  /** The id of a row of the parameter. */
  const givenId = (): string => dialect.cast('a.id', columns.get('id') ?? {});
  const isGiven = (): string => `id in (select ${givenId()} from ${given})`;
  const isWaiting = isApart
    ? `not exists (select 1 from ${answerTable} as w where w.id = t.id)`
    : 't.status is null';
  /** The columns of an answer, and their values. */
  const answerSets = (): (readonly [string, string])[] =>
    answered.flatMap((name) => {
      const column = answerColumns.get(name);
      const time = name === 'processed_at' ? 'current_timestamp(6)' : undefined;
      return column ? [[name, time ?? dialect.cast(`a.${name}`, column)]] : [];
    });

  return {
    /**
     * Prepares a new connection.
     * @throws TableProblem READ_ONLY if the server can't be written to
     */
    async start(host: string): Promise<void> {
      for (const statement of dialect.start) await client.query(statement);
      const [row] = await client.query(dialect.isStandby);
      if (row?.standby === 't' || row?.standby === '1')
        throw new TableProblem('READ_ONLY', `${host} is a standby`);
    },

    /**
     * Reads which columns the tables have.
     * @returns PostgreSQL: the table's publication, if it has one, and how it calls the table
     * @throws TableProblem TABLE_MISSING or COLUMN_MISSING
     */
    async describe(): Promise<TextRow> {
      const status = isApart ? [] : ['status'];
      columns = await columnsOf(source.table, 'id', 'template', 'to_address', ...status);
      answerColumns =
        source.answers === null ? columns : await columnsOf(source.answers, 'id', 'status');
      return columns.get('id') ?? {};
    },

    /** Bytes of WAL that a replication slot of PostgreSQL holds back; 0 if there is none of this name. */
    async slotBytes(slot: string): Promise<number> {
      const [row] = await client.query(
        'select pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) as bytes from pg_replication_slots where slot_name = $1',
        slot,
      );
      return Number(row?.bytes ?? 0);
    },

    /** Names of the check constraints. */
    async constraints(): Promise<readonly string[]> {
      const rows = await client.query(dialect.constraints, source.table);
      return rows.map(({ name }) => String(name));
    },

    /**
     * Reads rows without an answer, by id. Rows whose transactions haven't committed aren't seen, and those that are returned are
     * still there if the server crashes.
     * @param ids only of these rows
     */
    async readWaiting(limit: number, ids?: readonly string[]): Promise<readonly OutboxRow[]> {
      const has = (name: string, sql: string) => `${columns.has(name) ? sql : 'null'} as ${name}`;
      const start = (name: string, maxLength: number) =>
        has(name, `left(cast(t.${name} as ${text}), ${maxLength})`);
      const rows = await inTransaction(() =>
        run(
          `select id, version, template, to_address, send_at, message_id, size,
             case when size <= ${maxRowBytes} then data end as data,
             case when size <= ${maxRowBytes} then options end as options
           from (
             select *, sum(least(size, ${maxRowBytes})) over (order by place) as total from (
               select *, coalesce(octet_length(data), 0) + coalesce(octet_length(options), 0) as size from (
                 select t.id as place, ${identity()}, ${start('template', maxTextLength)},
                   ${start('to_address', maxTextLength)}, ${start('message_id', 36)}, ${start('data', maxPageBytes)},
                   ${start('options', maxPageBytes)}, ${has('send_at', dialect.time('t.send_at'))}
                 from ${table} as t where ${isWaiting} ${ids ? `and t.${isGiven()}` : ''}
                 order by t.id limit ${limit}) as waiting) as sized) as summed
           where total <= ${maxPageBytes} order by place`,
          ids && byId(ids),
        ),
      );
      if (rows.length > 0) await waitForLog();
      return rows.slice(0, limit) as unknown as readonly OutboxRow[];
    },

    /**
     * Writes answers to rows that are as they were read. Rows that a transaction of the account has locked are left for later.
     * @returns how many were written
     */
    answer(answers: readonly RowAnswer[]): Promise<number> {
      const isDeleted = source.after === 'delete';
      const on = `t.id = ${givenId()}`;
      const locked = `${table} as t ${columns.get('id')?.hint ?? ''}`;
      const sets = answerSets();
      return inTransaction(async () => {
        const found = await run(
          `select ${identity()} from ${table} as t where ${isWaiting} and t.${isGiven()}
           ${isApart && !isDeleted ? '' : 'for update skip locked'}`,
          answers,
        );
        const versions = new Map(found.map(({ id, version }) => [id, version]));
        const written = answers.filter(({ id, version }) => versions.get(id) === version);
        const insert = `insert into ${answerTable} (id, ${sets.map(([name]) => name)})
          select ${givenId()}, ${sets.map(([, value]) => value)} from ${given}`;
        const updated = isDeleted ? `${on} and a.status = 'failed'` : on;
        await run(isApart ? insert : dialect.update(locked, updated, sets), written);
        if (isDeleted)
          await run(dialect.remove(locked, `${on} and a.status = 'accepted'`), written);
        return written.length;
      });
    },

    /**
     * Lets failed rows wait again.
     * @param ids empty: all
     */
    async retry(ids: readonly string[]): Promise<void> {
      const reset = `update ${table} set ${answerSets().map(([name]) => `${name} = null`)}`;
      const all = `${isApart ? `delete from ${answerTable}` : reset} where status = 'failed'`;
      await inTransaction(() =>
        ids.length === 0 ? run(all) : run(`${all} and ${isGiven()}`, byId(ids)),
      );
    },
  };
}
