import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import { processTree, signalAll } from '../../bench/machine-use.ts';
import {
  createProgramCluster,
  makeProgramHome,
  readPostgresIdentity,
  startProgramServer,
} from '../../scripts/program-postgres.ts';
import { findPackage } from '../../src/host/embedded-database/find-programs.ts';
import { outboxSchemaSql } from '../../src/outbox/source/outbox-schema-sql.ts';
import { openGate, type TcpGate } from '../../test/support/tcp-gate.ts';
import type { TestCertificate } from '../../test/support/test-certificates.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import { connectionOf, type MariaDb, startMariaDb } from './start-mariadb.ts';

/** What a program knows of its transaction: nothing if the connection ended during the commit. */
export type Outcome = 'committed' | 'rolled back' | 'unknown' | 'not begun';

/** A row of an outbox. */
export interface WrittenRow {
  readonly to_address: string;
  readonly status: string | null;
  readonly message_id: string | null;
}

/** A connection for a transaction. */
export interface Writing {
  run(sql: string, values?: readonly string[]): Promise<unknown>;
  end(isBroken: boolean): void;
}

const table = 'email_outbox';
/** Of the role `signalpost`. */
export const sourcePassword = 'of-signalpost';
const writers = 8;
const insertSql = (value: (index: number) => string, rows: number): string =>
  `insert into ${table} (template, to_address, data) values ${Array.from(
    { length: rows },
    (_, index) => `('t-0001', ${value(2 * index)}, ${value(2 * index + 1)})`,
  )}`;
/** The statement in progress fails with the error of its connection. */
const ignore = (): void => undefined;
export const readRowsSql = `select to_address, status, message_id from ${table}`;
export const countWaitingSql = `select count(*) as count from ${table} where status is null`;

/** A customer's database with an outbox. */
export abstract class CustomerDatabase {
  readonly table = table;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** Of the source. */
  abstract readonly url: string;
  abstract rows(): Promise<readonly WrittenRow[]>;
  /** How many rows have no answer. */
  abstract countWaiting(): Promise<number>;

  /** Inserts rows in a transaction, to these recipients. @param isKept false: it is rolled back */
  async insert(recipients: readonly string[], isKept: boolean): Promise<Outcome> {
    let writing: Writing | undefined;
    let isCommitting = false;
    try {
      writing = await this.open();
      await writing.run('begin');
      const values = recipients.flatMap((to) => [to, JSON.stringify({ 'Order Number': to })]);
      await writing.run(insertSql(this.placeholder, recipients.length), values);
      isCommitting = isKept;
      await writing.run(isKept ? 'commit' : 'rollback');
      writing.end(false);
      return isKept ? 'committed' : 'rolled back';
    } catch {
      writing?.end(true);
      if (writing === undefined) return 'not begun';
      return isCommitting ? 'unknown' : 'rolled back';
    }
  }

  protected abstract open(): Promise<Writing>;
  protected abstract placeholder(index: number): string;
}

/** A published table, and the role of the source, which may replicate. */
export const postgresSchema = `
  create role signalpost login replication password '${sourcePassword}';
  ${outboxSchemaSql({ dialect: 'postgres', table, answers: null })}
  drop trigger signalpost_outbox on ${table};
  create publication signalpost_outbox for table ${table} (id) with (publish = 'insert');
  grant select, update (status, message_id, error, processed_at) on ${table} to signalpost`;

/** A PostgreSQL that publishes its outbox. */
export class PostgresCustomer extends CustomerDatabase {
  readonly #bin: string;
  readonly #data: string;
  readonly #settings: readonly string[];
  readonly #pool: pg.Pool;
  #server: ChildProcess | undefined;
  /** The service's way to it. */
  readonly gate: TcpGate;
  /** Whether the service uses TLS. */
  readonly isEncrypted: boolean;
  readonly url: string;

  private constructor(
    name: string,
    gate: TcpGate,
    server: { readonly bin: string; readonly data: string; readonly settings: readonly string[] },
    port: number,
    isEncrypted: boolean,
  ) {
    super(name);
    this.gate = gate;
    this.#bin = server.bin;
    this.#data = server.data;
    this.#settings = server.settings;
    this.isEncrypted = isEncrypted;
    const { port: gatePort } = new URL(gate.url);
    const login = `postgres://signalpost:${sourcePassword}`;
    this.url = isEncrypted
      ? `${login}@localhost:${gatePort}/postgres`
      : `${login}@127.0.0.1:${gatePort}/postgres?sslmode=disable`;
    this.#pool = new pg.Pool({
      connectionString: `postgres://postgres@127.0.0.1:${port}/postgres`,
      max: writers + 4,
    }).on('error', ignore);
  }

  /**
   * Starts a server that ends with the file.
   * @param bin undefined: of the package that Signalpost brings
   * @param certificate for `localhost`; undefined: without TLS
   */
  static async start(
    name: string,
    bin = join(findPackage().native, 'bin'),
    certificate?: TestCertificate,
  ): Promise<PostgresCustomer> {
    const home = makeProgramHome();
    after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
    const data = createProgramCluster(bin, home);
    const port = await freePort();
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${port}`,
      'wal_level=logical',
      'max_wal_senders=10',
      'max_replication_slots=10',
      ...(certificate === undefined ? [] : saveCertificate(data, certificate)),
    ];
    const gate = await openGate(`postgres://postgres@127.0.0.1:${port}/postgres`);
    const server = { bin, data, settings };
    const customer = new PostgresCustomer(name, gate, server, port, certificate !== undefined);
    after(async () => {
      await customer.#pool.end();
      await customer.kill();
    });
    await customer.start();
    await customer.#pool.query(postgresSchema);
    return customer;
  }

  /** Ends it like a crash. */
  async kill(): Promise<void> {
    const server = this.#server;
    if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    signalAll(processTree(server.pid), 'SIGKILL');
    await exited;
  }

  async start(): Promise<void> {
    // Until the last process of the one before has ended, its memory is in use.
    this.#server = await waitFor(
      `${this.name} to start`,
      () => startProgramServer(this.#bin, this.#data, this.#settings).catch(() => undefined),
      120_000,
    );
  }

  /** Adds a column. */
  async alter(column: string): Promise<void> {
    const writing = await this.open();
    try {
      await writing.run(`begin; alter table ${table} add column ${column} integer`);
      // Longer than a reader waits for a table.
      if (Math.random() < 0.5) await delay(3_000);
      await writing.run('commit');
      writing.end(false);
    } catch (error) {
      writing.end(true);
      throw error;
    }
  }

  /** Ends the stream, and drops its slot. @returns false if there is none */
  async dropSlot(): Promise<boolean> {
    const { rows } = await this.#pool.query<{ slot: string; pid: number | null }>(
      'select slot_name as slot, active_pid as pid from pg_replication_slots',
    );
    for (const { slot, pid } of rows) {
      await this.#pool.query('select pg_terminate_backend($1)', [pid]);
      // A temporary one ends with its connection.
      await this.#pool.query('select pg_drop_replication_slot($1)', [slot]).catch(() => undefined);
    }
    return rows.length > 0;
  }

  async rows(): Promise<readonly WrittenRow[]> {
    return (await this.#pool.query<WrittenRow>(readRowsSql)).rows;
  }

  async countWaiting(): Promise<number> {
    return Number((await this.#pool.query(countWaitingSql)).rows[0].count);
  }

  protected async open(): Promise<Writing> {
    const client = await this.#pool.connect();
    client.off('error', ignore).on('error', ignore);
    return {
      run: (sql, values) => client.query(sql, values && [...values]),
      end: (isBroken) => client.release(isBroken),
    };
  }

  protected placeholder(index: number): string {
    return `$${index + 1}`;
  }
}

/** Saves a certificate for PostgreSQL's user. @returns settings */
function saveCertificate(folder: string, { key, cert }: TestCertificate): string[] {
  const identity = readPostgresIdentity();
  for (const [name, text] of Object.entries({ key, cert })) {
    const file = join(folder, `server.${name}`);
    writeFileSync(file, text);
    chmodSync(file, 0o600);
    if (identity !== undefined) chownSync(file, identity.uid, identity.gid);
  }
  return ['ssl=on', 'ssl_key_file=server.key', 'ssl_cert_file=server.cert'];
}

/** A MariaDB with TLS. */
export class MariaDbCustomer extends CustomerDatabase {
  /** The service's way to it. */
  readonly gate: TcpGate;
  readonly #server: MariaDb;
  readonly #pool: Pool;
  readonly url: string;

  private constructor(name: string, gate: TcpGate, server: MariaDb) {
    super(name);
    this.gate = gate;
    this.#server = server;
    this.#pool = createPool({ ...connectionOf(server.port), connectionLimit: writers + 4 });
    this.url = `mysql://signalpost:${sourcePassword}@localhost:${new URL(gate.url).port}/shop`;
  }

  /** Starts a server that ends with the file. @param certificate for `localhost` */
  static async start(name: string, certificate: TestCertificate): Promise<MariaDbCustomer> {
    const server = await startMariaDb(certificate, ['log-error=error.log']);
    const gate = await openGate(`mysql://127.0.0.1:${server.port}/shop`);
    const customer = new MariaDbCustomer(name, gate, server);
    after(() => customer.#pool.end());
    await customer.#pool.query(outboxSchemaSql({ dialect: 'mysql', table, answers: null }));
    await customer.#pool.query(`
      create user signalpost@'%' identified by '${sourcePassword}';
      grant select, update (status, message_id, error, processed_at) on ${table} to signalpost@'%'`);
    return customer;
  }

  /** Ends it like a crash. */
  kill(): Promise<void> {
    return this.#server.kill();
  }

  async start(): Promise<void> {
    // It may recover for longer than it usually takes to start.
    await this.#server.start().catch(() => undefined);
    await waitFor(
      `${this.name} to start`,
      () =>
        this.#pool.query('select 1').then(
          () => true,
          () => false,
        ),
      120_000,
    );
  }

  /** Adds a column. */
  async alter(column: string): Promise<void> {
    await this.#pool.query(`alter table ${table} add column ${column} integer`);
  }

  async rows(): Promise<readonly WrittenRow[]> {
    return (await this.#pool.query<(WrittenRow & RowDataPacket)[]>(readRowsSql))[0];
  }

  async countWaiting(): Promise<number> {
    const [rows] = await this.#pool.query<RowDataPacket[]>(countWaitingSql);
    return Number(rows[0]?.count);
  }

  protected async open(): Promise<Writing> {
    const connection = await this.#pool.getConnection();
    return {
      run: (sql, values) => connection.query(sql, values && [...values]),
      end: (isBroken) => (isBroken ? connection.destroy() : connection.release()),
    };
  }

  protected placeholder(): string {
    return '?';
  }
}
