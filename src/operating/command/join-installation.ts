import { existsSync } from 'node:fs';
import { isSchemaCurrent } from '../../base/database/migrate.ts';
import { openDatabase, requireServer } from '../../base/database/open-database.ts';
import { requireMatchingKey } from '../../base/secrets/installation-store.ts';
import { loadMasterKey } from '../../base/secrets/load-master-key.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { createLog } from '../../base/values/log.ts';
import { dataFolderAt } from '../../host/embedded-database/data-folder.ts';
import { findRunningEmbedded } from '../../host/embedded-database/find-running-embedded.ts';
import { type Config, readConfig } from '../config/config.ts';
import { type Installation, openInstallation } from './open-installation.ts';
import type { RunningInstallation } from './open-running.ts';
import type { CommandShell } from './shell.ts';
import { exitOnSignal } from './stop-service.ts';

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

/**
 * Runs a command on the installation of DATABASE_URL or DATA_DIR, whether its service runs or not.
 * @throws OperatorError if there is none, or it can't be reached
 */
export async function withInstallation<Result>(
  shell: CommandShell,
  use: (installation: RunningInstallation) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(shell.environment);
  // A new database would have no account, and its files would look like an installation.
  if (config.databaseUrl === undefined && !existsSync(dataFolderAt(config.dataDir).cluster))
    throw new OperatorError(
      `There is no installation in ${config.dataDir}. Start the service first, or set DATA_DIR or DATABASE_URL as for the service.`,
    );
  exitOnSignal();
  const { database, key, close } = await joinInstallation(config);
  try {
    return await use({ config, database, key: async () => key });
  } finally {
    await close();
  }
}

/** @throws OperatorError if `text` is not a whole number in the range */
export function readInteger(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d{1,4}$/.test(text) || value < min || value > max)
    throw new OperatorError(
      `${option} must be a whole number from ${min} to ${max}, not "${text}".`,
    );
  return value;
}
