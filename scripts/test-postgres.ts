import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConnectionSettings } from '../src/host/embedded-database/database-password.ts';
import { startEmbeddedDatabase } from '../src/host/embedded-database/start-embedded-database.ts';
import { memoryFolder, startProgramPostgres } from './program-postgres.ts';

export interface TestPostgres {
  /** For a role that can create databases. */
  readonly url: string;
  /** For the service's role; on the embedded server, an unprivileged one as in a real installation. */
  readonly serviceUrl: string;
  stop(): Promise<void>;
}

const silent = { info: () => undefined, warn: () => undefined };

/**
 * A PostgreSQL for tests: the server of TEST_DATABASE_URL, a new one from the binaries in TEST_POSTGRES_BIN, or a new embedded
 * one. New servers are removed at the end.
 */
export async function startTestPostgres(): Promise<TestPostgres> {
  const existing = process.env.TEST_DATABASE_URL;
  if (existing !== undefined && existing !== '') {
    return { url: existing, serviceUrl: existing, stop: async () => undefined };
  }
  const binFolder = process.env.TEST_POSTGRES_BIN;
  if (binFolder !== undefined && binFolder !== '') return startProgramPostgres(binFolder);
  return startEmbeddedPostgres();
}

/**
 * An embedded PostgreSQL with an empty data folder, which `stop` removes.
 * @param settings of postgresql.conf, beside those of all tests
 */
export async function startEmbeddedPostgres(
  settings: readonly (readonly [name: string, value: string])[] = [],
): Promise<TestPostgres> {
  const dataDir = await mkdtemp(join(memoryFolder(), 'signalpost-test-'));
  await chmod(dataDir, 0o711);
  const access = join(dataDir, 'pg_hba.conf');
  await writeFile(access, 'local all all trust\nhost all all 127.0.0.1/32 trust\n');
  await chmod(access, 0o644);
  const embedded = await startEmbeddedDatabase({
    dataDir,
    log: silent,
    durable: false,
    moreSettings: [
      // Tests open thousands of connections, and each proof of a password takes both sides milliseconds.
      ['hba_file', access],
      // Four processes of tests with several nodes each once needed more than 92.
      ['max_connections', '200'],
      // A test's database is dropped before it needs vacuuming, and statistics that change under a test would change its plans.
      ['autovacuum', 'off'],
      ...settings,
    ],
  });
  return {
    url: urlOf(embedded.admin),
    serviceUrl: urlOf(embedded.settings),
    async stop() {
      await embedded.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The URL of a connection to an embedded database. */
export function urlOf({ host, port, user, password, database }: ConnectionSettings): string {
  const url = new URL(`postgres://localhost:${port}/${database}`);
  url.username = user;
  url.password = password;
  url.searchParams.set('host', host);
  return url.href;
}
