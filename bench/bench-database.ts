import { chmod, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { urlOf } from '../scripts/test-postgres.ts';
import { migrate } from '../src/base/database/migrate.ts';
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
} from '../src/base/database/open-database.ts';
import type { ConnectionSettings } from '../src/host/embedded-database/database-password.ts';
import { startEmbeddedDatabase } from '../src/host/embedded-database/start-embedded-database.ts';

export interface BenchDatabase extends AsyncDisposable {
  readonly url: string;
  readonly database: Database;
  /** Of PostgreSQL's first process. */
  readonly pid: number;
  stop(): Promise<void>;
}

const silent = { info: () => undefined, warn: () => undefined };
/** As many as `min_wal_size` keeps. */
const walFiles = 16;

/** A data folder, removed on disposal, that other users such as PostgreSQL's can traverse. */
export async function makeTemporaryFolder() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'signalpost-bench-'));
  await chmod(folder.path, 0o711);
  return folder;
}

/** The embedded PostgreSQL with the settings of a real installation, in a temporary folder. */
export async function startBenchDatabase(): Promise<BenchDatabase> {
  const folder = await makeTemporaryFolder();
  const { admin, ...opened } = await openBenchFolder(folder.path);
  await migrate(opened.database);
  await createWalFiles(admin);
  const stop = async (): Promise<void> => {
    await opened.stop();
    await folder.remove();
  };
  return { ...opened, stop, [Symbol.asyncDispose]: stop };
}

/** After a few minutes of work, an installation reuses its WAL files. */
async function createWalFiles(admin: ConnectionSettings): Promise<void> {
  const client = new pg.Client(admin);
  await client.connect();
  for (let file = 0; file < walFiles; file += 1) {
    await client.query('select pg_current_xact_id()');
    await client.query('select pg_switch_wal()');
  }
  await client.query('checkpoint');
  await client.end();
}

/** @param source a table, optionally with a condition */
export async function countRows({ pool }: Database, source: string): Promise<number> {
  const { rows } = await pool.query(`select count(*)::int as count from ${source}`);
  return rows[0].count;
}

/** The same in a folder that is kept. */
export async function openBenchFolder(
  dataDir: string,
  { durable = true, ...options }: DatabaseOptions & { readonly durable?: boolean } = {},
): Promise<BenchDatabase & { readonly admin: ConnectionSettings }> {
  const embedded = await startEmbeddedDatabase({ dataDir, log: silent, durable });
  const url = urlOf(embedded.settings);
  const database = openDatabase({ url }, options);
  const stop = async (): Promise<void> => {
    await database.close();
    await embedded.stop();
  };
  const { admin, pid = 0 } = embedded;
  return { url, database, admin, pid, stop, [Symbol.asyncDispose]: stop };
}
