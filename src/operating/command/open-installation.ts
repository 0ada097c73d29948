import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { migrate, readLatestMigration } from '../../base/database/migrate.ts';
import { type Database, openDatabase, requireServer } from '../../base/database/open-database.ts';
import {
  explainMovedError,
  requireMatchingKey,
  requireNotMoved,
} from '../../base/secrets/installation-store.ts';
import { recordKeyNode, removeKeyNode } from '../../base/secrets/key-rotation-store.ts';
import { type KeySource, loadMasterKey, readSecrets } from '../../base/secrets/load-master-key.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { Log } from '../../base/values/log.ts';
import type { EmbeddedDatabase } from '../../host/embedded-database/embedded-database.ts';
import { startEmbeddedDatabase } from '../../host/embedded-database/start-embedded-database.ts';
import type { Config } from '../config/config.ts';

/** A database migrated to this release, and its key. */
export interface Installation {
  readonly database: Database;
  readonly key: MasterKey;
  /** Undefined for the operator's own database. */
  readonly embedded: EmbeddedDatabase | undefined;
  close(): Promise<void>;
}

/**
 * Opens the operator's database (DATABASE_URL) or starts the embedded one, migrates it and checks the key.
 * @param signal aborts, even while waiting for another node's migration; rejects with its reason
 * @throws OperatorError if the installation can't be opened; nothing is left running then
 */
export async function openInstallation(
  config: Config,
  log: Log,
  signal?: AbortSignal,
): Promise<Installation> {
  const { database, embedded, close } = await openConfiguredDatabase(config, log, { signal });
  const breakConnections = connectionBreaker(database.pool);
  signal?.addEventListener('abort', breakConnections);
  try {
    signal?.throwIfAborted();
    await requireServer(database);
    await requireNotMoved(database);
    const applied = await migrate(database);
    if (applied.length > 0)
      log.info({ from: applied[0], to: applied.at(-1) }, 'migrated the database');
    const key = await loadMasterKey(config);
    await requireMatchingKey(database, key);
    signal?.throwIfAborted();
    const following = followKey(database, key, config, log);
    await following.start();
    const closeAll = () => following.stop().then(close);
    return { database, key, embedded, close: closeAll };
  } catch (error) {
    const explanation = await explainMovedError(database, error).catch(() => undefined);
    await close();
    throw signal?.aborted ? signal.reason : (explanation ?? error);
  } finally {
    signal?.removeEventListener('abort', breakConnections);
  }
}

/** A database that may be empty, or of another release. */
type ConfiguredDatabase = Pick<Installation, 'database' | 'embedded' | 'close'>;

/** Opens the database of DATABASE_URL without connecting yet, or starts the embedded one. */
export async function openConfiguredDatabase(
  config: Config,
  log: Log,
  {
    signal,
    ...options
  }: { readonly signal?: AbortSignal | undefined; readonly applicationName?: string } = {},
): Promise<ConfiguredDatabase> {
  const embedded =
    config.databaseUrl === undefined
      ? await startEmbeddedDatabase({
          dataDir: config.dataDir,
          log,
          ...(signal && { signal }),
          archiveEverySeconds: config.backup.to && config.backup.everySeconds,
        })
      : undefined;
  const database = openDatabase(embedded?.settings ?? { url: config.databaseUrl ?? '' }, options);
  return {
    database,
    embedded,
    async close() {
      await database.close();
      await embedded?.stop();
    },
  };
}

/** @returns a function that closes all connections that the pool opens from now on, which aborts their statements */
function connectionBreaker(pool: Database['pool']): () => void {
  const clients = new Set<{ end?(): Promise<void> }>();
  pool.on('connect', (client) => clients.add(client));
  pool.on('remove', (client) => clients.delete(client));
  return () => {
    for (const client of clients) client.end?.().catch(() => undefined);
  };
}

/** Interval at which a process checks for a rotation of the master key. */
const followKeyIntervalMs = 3_000;

/**
 * Follows a rotation of the master key while the process runs: loads new key files, uses the key that the database
 * names for new data, and records which keys and which release it has, so that `rotate-master` and migrations know when
 * they can continue.
 */
function followKey(
  database: Database,
  key: MasterKey,
  source: KeySource,
  log: Log,
): { start(): Promise<void>; stop(): Promise<void> } {
  const node = randomUUID();
  const name = `${hostname()} (process ${process.pid})`;
  let latestMigration = 0;
  let warned: string | undefined;
  const round = async (): Promise<void> => {
    try {
      key.addSecrets(await readSecrets(source));
      const known = key.fingerprints;
      const report = { name, known, current: key.fingerprint };
      const state = await recordKeyNode(database, node, report, latestMigration);
      if (state === undefined || state.current === null) return;
      const missing = key.select(state.current, state.previous);
      if (missing !== undefined && missing !== warned)
        log.error(
          { fingerprint: missing },
          'the master key was rotated, but this process doesn’t have the new key',
        );
      warned = missing;
    } catch (error) {
      log.debug({ err: error }, 'could not check the master key');
    }
  };
  const task = new PeriodicTask(followKeyIntervalMs, round);
  return {
    async start() {
      latestMigration = await readLatestMigration();
      await round();
      task.start();
    },
    async stop() {
      await task.stop();
      await removeKeyNode(database, node).catch(() => undefined);
    },
  };
}
