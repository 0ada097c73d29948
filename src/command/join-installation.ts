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
 * The installation of DATABASE_URL or DATA_DIR, whether its service runs or not: the embedded database of a running service
 * is joined, else it is started for as long as the command takes.
 * @throws OperatorError for an installation that cannot be reached
 */
export async function joinInstallation(config: Config): Promise<Installation> {
  // The start of the embedded database is no news here; a person reads what is printed.
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
        'The service that runs on this DATA_DIR is of another release; restart it with this one first.',
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
