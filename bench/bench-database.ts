import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../src/foundation/database/migrate.ts';
import { type Database, openDatabase } from '../src/foundation/database/open-database.ts';
import { startEmbeddedDatabase } from '../src/foundation/embedded/start-embedded-database.ts';

export interface BenchDatabase {
  readonly url: string;
  readonly database: Database;
  /** Of PostgreSQL's first process. */
  readonly pid: number;
  stop(): Promise<void>;
}

const silent = { info: () => undefined, warn: () => undefined };

/** The embedded PostgreSQL with the settings of a real installation (it flushes), on a folder that is thrown away. */
export async function startBenchDatabase(): Promise<BenchDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'signalpost-bench-'));
  await chmod(dataDir, 0o711);
  const opened = await openBenchFolder(dataDir);
  await migrate(opened.database);
  return {
    ...opened,
    async stop() {
      await opened.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The same on a folder that stays. @param options `patience` in milliseconds, for statements that take long */
export async function openBenchFolder(
  dataDir: string,
  { durable = true, patience }: { readonly durable?: boolean; readonly patience?: number } = {},
): Promise<BenchDatabase> {
  const embedded = await startEmbeddedDatabase({ dataDir, log: silent, durable });
  const { host, port, user, password, database: name } = embedded.settings;
  const url = new URL(`postgres://localhost:${port}/${name}`);
  url.username = user;
  url.password = password;
  url.searchParams.set('host', host);
  const database = openDatabase({ url: url.href }, patience === undefined ? {} : { patience });
  return {
    url: url.href,
    database,
    pid: embedded.pid ?? 0,
    async stop() {
      await database.close();
      await embedded.stop();
    },
  };
}
