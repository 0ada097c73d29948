import pg from 'pg';
import type { GuardedClient } from '../../base/network/guarded-postgres.ts';
import { outboxChannel } from '../source/outbox-schema-sql.ts';

/** A row to send, as its table has it; JSON as text. */
export interface OutboxRow {
  readonly id: string;
  /** Changes with the row, so that an answer isn't written to other content. */
  readonly version: string;
  readonly template: string;
  readonly toAddress: string;
  readonly data: string | null;
  readonly options: string | null;
  /** RFC 3339, in UTC. */
  readonly sendAt: string | null;
  /** Bytes of data and options. If there are more than `maxRowBytes`, both are null. */
  readonly size: number;
}

/** What became of a row. */
export interface RowAnswer {
  readonly id: string;
  readonly version: string;
  readonly status: 'accepted' | 'failed';
  readonly messageId: string | null;
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
const maxIdLength = 3_000;
const maxTextLength = 1_000;

/** Why a table can't be read; its account can fix it. */
export class TableProblem extends Error {
  override name = 'TableProblem';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const required = ['id', 'template', 'to_address', 'status'] as const;
const optional = ['data', 'options', 'send_at', 'message_id', 'error', 'processed_at'] as const;
type Column = (typeof required)[number] | (typeof optional)[number];

/** A table of an account's own PostgreSQL. Every transaction is short, and waits for none of the account's for long. */
export class OutboxTable {
  readonly #client: GuardedClient;
  /** Quoted. */
  readonly #name: string;
  #types = new Map<Column, string>();

  /** @param table a name of `tableNamePattern` */
  constructor(client: GuardedClient, table: string) {
    this.#client = client;
    this.#name = table.split('.').map(pg.escapeIdentifier).join('.');
  }

  /**
   * Reads which columns the table has.
   * @returns true if inserts are notified
   * @throws TableProblem TABLE_MISSING or COLUMN_MISSING
   */
  async describe(): Promise<boolean> {
    const rows = await this.#client.query(
      `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, exists (
         select from pg_trigger t join pg_proc p on p.oid = t.tgfoid
         where t.tgrelid = a.attrelid and p.proname = '${outboxChannel}_notify' and t.tgenabled <> 'D') as notifies
       from pg_attribute a where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped`,
      [this.#name],
    );
    if (rows.length === 0)
      throw new TableProblem('TABLE_MISSING', `the table ${this.#name} doesn’t exist`);
    const types = new Map(rows.map(({ name, type }) => [String(name), String(type)]));
    const missing = required.filter((name) => !types.has(name));
    if (missing.length > 0)
      throw new TableProblem('COLUMN_MISSING', `the table has no column ${missing.join(', ')}`);
    this.#types = new Map(
      [...required, ...optional].flatMap((name) => {
        const type = types.get(name);
        return type === undefined ? [] : [[name, type]];
      }),
    );
    return rows[0]?.notifies === 't';
  }

  /** Asks for notifications of inserts; a pooler in transaction mode doesn't pass them on. */
  async listen(): Promise<void> {
    await this.#client.query(`listen ${outboxChannel}`);
  }

  /** Reads rows without an answer, by id. Rows whose transactions haven't committed aren't seen. */
  async readWaiting(limit: number): Promise<readonly OutboxRow[]> {
    const json = (name: Column) => (this.#types.has(name) ? `t.${name}::text` : 'null::text');
    const sendAt = this.#types.has('send_at')
      ? `to_char(t.send_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
      : 'null::text';
    const rows = await this.#inTransaction(
      `select id, version, template, "toAddress", "sendAt", size,
         case when size <= ${maxRowBytes} then data end as data,
         case when size <= ${maxRowBytes} then options end as options
       from (
         select *, sum(least(size, ${maxRowBytes})) over (order by place) as total from (
           select *, coalesce(octet_length(data), 0) + coalesce(octet_length(options), 0) as size from (
             select row_number() over (order by t.id) as place, left(t.id::text, ${maxIdLength}) as id,
               t.xmin::text as version, left(t.template::text, ${maxTextLength}) as template,
               left(t.to_address::text, ${maxTextLength}) as "toAddress", ${json('data')} as data,
               ${json('options')} as options, ${sendAt} as "sendAt"
             from ${this.#name} as t where t.status is null order by t.id limit ${limit}) as waiting) as sized) as summed
       where total <= ${maxPageBytes} or place = 1 order by place`,
    );
    return rows.slice(0, limit).map((row) => ({
      id: row.id ?? '',
      version: row.version ?? '',
      template: row.template ?? '',
      toAddress: row.toAddress ?? '',
      data: row.data ?? null,
      options: row.options ?? null,
      sendAt: row.sendAt ?? null,
      size: Number(row.size),
    }));
  }

  /**
   * Writes answers to rows that are as they were read. Rows that a transaction of the account has locked are left for later.
   * @returns how many were written
   */
  async answer(answers: readonly RowAnswer[]): Promise<number> {
    const values: Readonly<Partial<Record<Column, string>>> = {
      status: 'a.status',
      message_id: 'a.message_id',
      error: 'a.error',
      processed_at: 'now()',
    };
    const sets = Object.entries(values)
      .map(([name, value]) => [name, value, this.#types.get(name as Column)] as const)
      .filter(([, , type]) => type !== undefined)
      .map(([name, value, type]) => `${name} = ${value}::${type}`);
    const type = this.#types.get('id');
    const rows = await this.#inTransaction(
      `with a as (
         select a.id::${type} as id, a.status, a.message_id, a.error
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) as a (id, version, status, message_id, error)
         join ${this.#name} as t on t.id = a.id::${type}
         where t.status is null and t.xmin::text = a.version for update of t skip locked)
       update ${this.#name} as t set ${sets.join(', ')} from a where t.id = a.id returning 1 as written`,
      (['id', 'version', 'status', 'messageId', 'error'] as const).map((name) =>
        answers.map((answer) => answer[name]),
      ),
    );
    return rows.length;
  }

  /** Ends the connection. */
  close(): void {
    this.#client.close();
  }

  /** Settings of the transaction alone, because a pooler gives the connection to others after it. */
  async #inTransaction(text: string, values?: readonly unknown[]) {
    await this.#client.query(
      `begin isolation level read committed; set local lock_timeout = '2s'; set local statement_timeout = '20s'`,
    );
    try {
      const rows = await this.#client.query(text, values);
      await this.#client.query('commit');
      return rows;
    } catch (error) {
      await this.#client.query('rollback').catch(() => undefined);
      throw error;
    }
  }
}
