import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import pg from 'pg';
import {
  createProgramCluster,
  endProgramServer,
  makeProgramFolder,
  makeProgramHome,
  runProgram,
  startProgramServer,
} from '../../scripts/program-postgres.ts';
import { serviceSchema } from '../../src/base/database/service-schema.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from './free-port.ts';

const bin = '/usr/lib/postgresql/15/bin';

/** One of Debian's PostgreSQL servers of a pair. */
class PairServer {
  readonly #data: string;
  readonly port: number;
  #process: ChildProcess | undefined;

  constructor(data: string, port: number) {
    this.#data = data;
    this.port = port;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    this.#process = await startProgramServer(bin, this.#data, [
      'listen_addresses=127.0.0.1',
      `port=${this.port}`,
      // Tests find statements by their text.
      'track_activity_query_size=16kB',
      'wal_receiver_timeout=5s',
      'wal_retrieve_retry_interval=100ms',
    ]);
  }

  /** Ends the server without a checkpoint, so that its next start recovers as after a crash. */
  async crash(): Promise<void> {
    if (this.#process !== undefined) await endProgramServer(this.#process, 'SIGQUIT');
  }

  /** The rows of a query as a superuser. */
  async query<Row extends pg.QueryResultRow>(
    text: string,
    values: unknown[] = [],
    name = 'postgres',
  ): Promise<Row[]> {
    const client = new pg.Client({
      connectionString: `postgres://postgres@${this.host}/${name}`,
      options: `-c search_path=${serviceSchema}`,
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** Process IDs of connections that wait for the standby with a statement whose text contains `part`. */
  async findStandbyWaiters(part: string): Promise<number[]> {
    const found = await this.query<{ pid: number }>(
      "select pid from pg_stat_activity where wait_event = 'SyncRep' and position($1 in query) > 0",
      [part],
    );
    return found.map(({ pid }) => pid);
  }
}

/** A primary and a standby that replicates it, which must confirm every commit. */
export interface PostgresPair {
  readonly primary: PairServer;
  readonly standby: PairServer;
}

/** Starts a pair; both servers stop at the end of the file. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const home = makeProgramHome();
  const data = createProgramCluster(bin, home);
  const primary = new PairServer(data, await freePort());
  await primary.start();
  const copy = join(home, 'standby');
  makeProgramFolder(copy);
  const source = `host=127.0.0.1 port=${primary.port} user=postgres application_name=standby`;
  runProgram(bin, 'pg_basebackup', ['-d', source, '-D', copy, '-R', '-c', 'fast', '-N'], data);
  const standby = new PairServer(copy, await freePort());
  after(async () => {
    // Both at once: neither waits for the other.
    await Promise.all([primary.crash(), standby.crash()]);
    rmSync(home, { recursive: true, force: true });
  });
  await standby.start();
  await primary.query("alter system set synchronous_standby_names = 'standby'");
  await primary.query('select pg_reload_conf()');
  await waitFor('the standby', async () => {
    const [row] = await primary.query('select from pg_stat_replication where sync_state = $1', [
      'sync',
    ]);
    return row !== undefined;
  });
  return { primary, standby };
}
