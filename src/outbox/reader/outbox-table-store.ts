import { setTimeout as delay } from 'node:timers/promises';
import type { GuardedClient, TextRow } from '../../base/network/guarded-database.ts';
import { tableDialects } from '../source/dialect-sql.ts';
import type { OutboxSource } from '../source/outbox-source-store.ts';

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

/** Why a table can't be read; its account can fix it. */
export class TableProblem extends Error {
  override name = 'TableProblem';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

type Columns = ReadonlyMap<string | null | undefined, TextRow>;

/**
 * A table of an account's own database, and a second one for the answers if there is one. Every transaction is short, and waits for
 * none of the account's for long.
 */
export class OutboxTable {
  readonly client: GuardedClient;
  readonly #dialect: typeof tableDialects.postgres;
  readonly #source: OutboxSource;
  readonly #table: string;
  /** Where the answers are. */
  readonly #answers: string;
  #columns: Columns = new Map();
  #answerColumns: Columns = new Map();

  /** @param source its tables have names of `tableNamePattern` */
  constructor(client: GuardedClient, source: OutboxSource) {
    this.client = client;
    this.#source = source;
    this.#dialect = tableDialects[source.dialect];
    this.#table = this.#dialect.quote(source.table);
    this.#answers = this.#dialect.quote(source.answers ?? source.table);
  }

  /**
   * Prepares a new connection.
   * @throws TableProblem READ_ONLY if the server can't be written to
   */
  async start(host: string): Promise<void> {
    for (const text of this.#dialect.start) await this.client.query(text);
    const [row] = await this.client.query(this.#dialect.isStandby);
    if (row?.standby === 't' || row?.standby === '1')
      throw new TableProblem('READ_ONLY', `${host} is a standby`);
  }

  /**
   * Reads which columns the tables have.
   * @returns PostgreSQL: the table's publication, if it has one, and how it calls the table
   * @throws TableProblem TABLE_MISSING or COLUMN_MISSING
   */
  async describe(): Promise<TextRow> {
    const { table, answers } = this.#source;
    const own = ['id', 'template', 'to_address', ...(answers === null ? ['status'] : [])];
    this.#columns = await this.#columnsOf(table, own);
    this.#answerColumns =
      answers === null ? this.#columns : await this.#columnsOf(answers, ['id', 'status']);
    return this.#columns.get('id') ?? {};
  }

  async #columnsOf(table: string, required: readonly string[]): Promise<Columns> {
    const rows = await this.client.query(this.#dialect.columns, table);
    if (rows.length === 0)
      throw new TableProblem('TABLE_MISSING', `the table ${table} doesn’t exist`);
    const columns = new Map(rows.map((row) => [row.name, row]));
    const missing = required.filter((name) => !columns.has(name));
    if (missing.length === 0) return columns;
    throw new TableProblem('COLUMN_MISSING', `the table ${table} has no column ${missing}`);
  }

  /** Bytes of WAL that a replication slot of PostgreSQL holds back; 0 if there is none of this name. */
  async slotBytes(slot: string): Promise<number> {
    const [row] = await this.client.query(
      'select pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) as bytes from pg_replication_slots where slot_name = $1',
      slot,
    );
    return Number(row?.bytes ?? 0);
  }

  /** Names of the check constraints. */
  async constraints(): Promise<readonly string[]> {
    const rows = await this.client.query(this.#dialect.constraints, this.#source.table);
    return rows.map(({ name }) => String(name));
  }

  /**
   * Reads rows without an answer, by id. Rows whose transactions haven't committed aren't seen, and those that are returned are
   * still there if the server crashes.
   * @param ids only of these rows
   */
  async readWaiting(limit: number, ids?: readonly string[]): Promise<readonly OutboxRow[]> {
    const has = (name: string, sql: string) =>
      `${this.#columns.has(name) ? sql : 'null'} as ${name}`;
    const text = (name: string, maxLength: number) =>
      has(name, `left(cast(t.${name} as ${this.#dialect.text}), ${maxLength})`);
    const rows = await this.#inTransaction(() =>
      this.client.query(
        `select id, version, template, to_address, send_at, message_id, size,
           case when size <= ${maxRowBytes} then data end as data,
           case when size <= ${maxRowBytes} then options end as options
         from (
           select *, sum(least(size, ${maxRowBytes})) over (order by place) as total from (
             select *, coalesce(octet_length(data), 0) + coalesce(octet_length(options), 0) as size from (
               select t.id as place, ${this.#identity()}, ${text('template', maxTextLength)},
                 ${text('to_address', maxTextLength)}, ${text('message_id', 36)}, ${text('data', maxPageBytes)},
                 ${text('options', maxPageBytes)}, ${has('send_at', this.#dialect.time('t.send_at'))}
               from ${this.#table} as t where ${this.#waiting(ids !== undefined)}
               order by t.id limit ${limit}) as waiting) as sized) as summed
         where total <= ${maxPageBytes} order by place`,
        ids && listOf(ids),
      ),
    );
    if (rows.length > 0) await this.#waitForLog();
    return rows.slice(0, limit) as unknown as readonly OutboxRow[];
  }

  /** Waits until what was read is flushed. @throws TableProblem if that takes long, as on a disk that hangs */
  async #waitForLog(): Promise<void> {
    const { logEnds } = this.#dialect;
    const until = performance.now() + maxFlushMs;
    let end: number | undefined;
    for (;;) {
      const rows = logEnds === null ? [] : await this.client.query(logEnds);
      const ends = new Map(rows.map((row) => [row.Variable_name, Number(row.Value)]));
      const flushed = ends.get('Innodb_lsn_flushed');
      end ??= ends.get('Innodb_lsn_current');
      if (flushed === undefined || end === undefined || flushed >= end) return;
      if (performance.now() > until)
        throw new TableProblem('STATEMENT_FAILED', 'the server doesn’t flush its log');
      await delay(flushPollMs);
    }
  }

  /**
   * Writes answers to rows that are as they were read. Rows that a transaction of the account has locked are left for later.
   * @returns how many were written
   */
  answer(answers: readonly RowAnswer[]): Promise<number> {
    const { answers: second, after } = this.#source;
    const { rows, update, remove } = this.#dialect;
    const table = `${this.#table} as t ${this.#columns.get('id')?.hint ?? ''}`;
    const is = (status: string) => `t.id = ${this.#id()} and a.status = '${status}'`;
    return this.#inTransaction(async () => {
      const found = await this.client.query(
        `select ${this.#identity()} from ${this.#table} as t where ${this.#waiting(true)}
         ${second === null || after === 'delete' ? 'for update skip locked' : ''}`,
        JSON.stringify(answers),
      );
      const versions = new Map(found.map(({ id, version }) => [id, version]));
      const written = answers.filter(({ id, version }) => versions.get(id) === version);
      const write = (sql: string) => this.client.query(sql, JSON.stringify(written));
      const sets = this.#answerSets();
      if (second !== null)
        await write(
          `insert into ${this.#answers} (id, ${sets.map(([name]) => name)})
           select ${this.#id()}, ${sets.map(([, value]) => value)} from ${rows}`,
        );
      else if (after === 'keep') await write(update(table, `t.id = ${this.#id()}`, sets));
      else await write(update(table, is('failed'), sets));
      if (after === 'delete') await write(remove(table, is('accepted')));
      return written.length;
    });
  }

  /**
   * Lets failed rows wait again.
   * @param ids empty: all
   */
  async retry(ids: readonly string[]): Promise<void> {
    const sets = this.#answerSets().map(([name]) => `${name} = null`);
    const some = `id in (select ${this.#id()} from ${this.#dialect.rows})`;
    await this.#inTransaction(() =>
      this.client.query(
        `${this.#source.answers === null ? `update ${this.#table} set ${sets}` : `delete from ${this.#answers}`}
         where status = 'failed' and ${ids.length === 0 ? 'true' : some}`,
        ids.length === 0 ? undefined : listOf(ids),
      ),
    );
  }

  #identity(): string {
    const { text, version } = this.#dialect;
    const known = content.filter((name) => this.#columns.has(name));
    return `left(cast(t.id as ${text}), ${maxIdLength}) as id, cast(${version(known)} as ${text}) as version`;
  }

  /** The id of a row of the parameter. */
  #id(): string {
    return this.#dialect.cast('a.id', this.#columns.get('id') ?? {});
  }

  #waiting(isSome: boolean): string {
    const answer = `select 1 from ${this.#answers} as w where w.id = t.id`;
    const waits = this.#source.answers === null ? 't.status is null' : `not exists (${answer})`;
    return isSome
      ? `${waits} and t.id in (select ${this.#id()} from ${this.#dialect.rows})`
      : waits;
  }

  /** The columns of an answer, and their values. */
  #answerSets(): (readonly [string, string])[] {
    return answered.flatMap((name) => {
      const column = this.#answerColumns.get(name);
      const time = name === 'processed_at' ? 'current_timestamp(6)' : undefined;
      return column ? [[name, time ?? this.#dialect.cast(`a.${name}`, column)]] : [];
    });
  }

  async #inTransaction<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.client.query(this.#dialect.begin);
    try {
      const result = await work();
      await this.client.query('commit');
      return result;
    } catch (error) {
      await this.client.query('rollback').catch(() => undefined);
      throw error;
    }
  }
}

const content = ['template', 'to_address', 'data', 'options', 'send_at'];
const answered = ['status', 'message_id', 'error', 'processed_at'];

/** The parameter for ids. */
const listOf = (ids: readonly string[]) => JSON.stringify(ids.map((id) => ({ id })));
