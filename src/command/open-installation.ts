import type { Config } from '../config/config.ts';
import type { EmbeddedDatabase } from '../embedded-database/embedded-database.ts';
import { startEmbeddedDatabase } from '../embedded-database/start-embedded-database.ts';
import { migrate } from '../foundation/database/migrate.ts';
import {
  type Database,
  openDatabase,
  requireServer,
} from '../foundation/database/open-database.ts';
import { explainMovedError, requireNotMoved } from '../foundation/installation-move-store.ts';
import { requireMatchingKey } from '../foundation/installation-store.ts';
import { loadMasterKey } from '../foundation/load-master-key.ts';
import type { Log } from '../foundation/log.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { followKey } from './follow-key.ts';

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
