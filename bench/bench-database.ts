import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { urlOf } from '../scripts/test-postgres.ts';
import type { ConnectionSettings } from '../src/embedded-database/connection-settings.ts';
import { startEmbeddedDatabase } from '../src/embedded-database/start-embedded-database.ts';
import { migrate } from '../src/foundation/database/migrate.ts';
import { type Database, openDatabase } from '../src/foundation/database/open-database.ts';

export interface BenchDatabase {
  readonly url: string;
  readonly database: Database;
  /** The superuser. */
  readonly admin: ConnectionSettings;
  /** Of PostgreSQL's first process. */
  readonly pid: number;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const silent = { info: () => undefined, warn: () => undefined };

/** The embedded PostgreSQL with the settings of a real installation (it flushes), on a folder that is thrown away. */
export async function startBenchDatabase(): Promise<BenchDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'signalpost-bench-'));
  await chmod(dataDir, 0o711);
  const opened = await openBenchFolder(dataDir);
  await migrate(opened.database);
  await warmUpWal(opened.admin);
  const stop = async (): Promise<void> => {
    await opened.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { ...opened, stop, [Symbol.asyncDispose]: stop };
}

/** As many files of the log as `min_wal_size` keeps. */
const walFiles = 16;

/** Makes the files of the log that an installation which has worked for some minutes uses again and again. */
async function warmUpWal(admin: ConnectionSettings): Promise<void> {
  const client = new pg.Client(admin);
  await client.connect();
  for (let file = 0; file < walFiles; file += 1) {
    await client.query('select pg_current_xact_id()');
    await client.query('select pg_switch_wal()');
  }
  await client.query('checkpoint');
  await client.end();
}

/** The same on a folder that stays. @param options `patience` in milliseconds, for statements that take long */
export async function openBenchFolder(
  dataDir: string,
  {
    durable = true,
    statementTimeoutMs,
  }: { readonly durable?: boolean; readonly statementTimeoutMs?: number } = {},
): Promise<BenchDatabase> {
  const embedded = await startEmbeddedDatabase({ dataDir, log: silent, durable });
  const url = urlOf(embedded.settings);
  const database = openDatabase(
    { url },
    statementTimeoutMs === undefined ? {} : { statementTimeoutMs },
  );
  const stop = async (): Promise<void> => {
    await database.close();
    await embedded.stop();
  };
  const { admin, pid = 0 } = embedded;
  return { url, database, admin, pid, stop, [Symbol.asyncDispose]: stop };
}
