import type { Config } from '../config/config.ts';
import { findRunningEmbedded } from '../embedded-database/find-running-embedded.ts';
import { isSchemaCurrent } from '../foundation/database/migrate.ts';
import { openDatabase, requireServer } from '../foundation/database/open-database.ts';
import { OperatorError } from '../foundation/errors.ts';
import { requireMatchingKey } from '../foundation/installation-store.ts';
import { loadMasterKey } from '../foundation/load-master-key.ts';
import { createLog } from '../foundation/log.ts';
import { type Installation, openInstallation } from './open-installation.ts';

/**
 * Opens the installation of DATABASE_URL or DATA_DIR, whether its service runs or not: connects to the embedded
 * database of a running service, or starts it for the duration of the command.
 * @throws OperatorError if the installation can't be reached
 */
export async function joinInstallation(config: Config): Promise<Installation> {
  // Don't log the start of the embedded database: a person reads the output.
  const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel);
  const running =
    config.databaseUrl === undefined ? await findRunningEmbedded(config.dataDir) : undefined;
  if (running === undefined) return openInstallation(config, log);
  const database = openDatabase(running, { applicationName: 'signalpost command' });
  const close = () => database.close();
  try {
    await requireServer(database);
    if (!(await isSchemaCurrent(database))) {
      throw new OperatorError(
        'The service running on this DATA_DIR is a different release; restart it with this release first.',
      );
    }
    const key = await loadMasterKey(config);
    await requireMatchingKey(database, key);
    return { database, key, embedded: undefined, close };
  } catch (error) {
    await close();
    throw error;
  }
}
