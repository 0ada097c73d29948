import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { OperatorError } from '../../base/values/errors.ts';
import { type DataFolder, dataFolderAt } from './data-folder.ts';
import { withClient } from './database-client.ts';
import { ADMIN_ROLE, type ConnectionSettings, readPassword } from './database-password.ts';
import { isDataFolderLocked, readInfoFile, readServiceInfo } from './service-lock.ts';

/** The content of `database.json`: how to connect to the running database, without the password. */
type DatabaseInfo = Omit<ConnectionSettings, 'password'>;

const POLL_MS = 50;

/**
 * Finds the embedded database of the service that runs on a data folder, for another process of the same
 * installation; undefined if no service runs there.
 *
 * @param timeoutMs how long to wait for a database that is still starting, in milliseconds
 * @throws OperatorError if the service's database doesn't respond in that time
 */
export async function findRunningEmbedded(
  dataDir: string,
  timeoutMs = 30_000,
): Promise<ConnectionSettings | undefined> {
  const path = resolve(dataDir);
  const folder = dataFolderAt(existsSync(path) ? realpathSync(path) : path);
  if (!existsSync(folder.lockFile)) return undefined;
  const deadline = Date.now() + timeoutMs;
  while (isDataFolderLocked(folder)) {
    const settings = readSettings(folder);
    if (settings && (await canConnect(settings))) return settings;
    if (Date.now() > deadline) throw notAnsweringError(folder, timeoutMs);
    await delay(POLL_MS);
  }
  return undefined;
}

/**
 * Finds the embedded database of a running service as its superuser, who can copy it.
 * @returns undefined if no service runs on the data folder
 * @throws OperatorError if the database doesn't respond, or its password can't be read
 */
export async function findRunningAdmin(
  dataDir: string,
): Promise<{ readonly admin: ConnectionSettings; readonly folder: DataFolder } | undefined> {
  const settings = await findRunningEmbedded(dataDir);
  if (settings === undefined) return undefined;
  const folder = dataFolderAt(realpathSync(resolve(dataDir)));
  const password = readPassword(folder.passwordFile);
  if (password === undefined)
    throw new OperatorError(
      `The file ${folder.passwordFile} is missing. Restart the service, which generates a new password.`,
    );
  return { admin: { ...settings, user: ADMIN_ROLE, password }, folder };
}

function readSettings(folder: DataFolder): ConnectionSettings | undefined {
  const info = readInfoFile<DatabaseInfo>(folder.databaseInfoFile);
  if (info === undefined) return undefined;
  // A running release before 0.2.0 uses the superuser; `migrate --plan` inspects it before the upgrade.
  const isAdmin = info.user === ADMIN_ROLE;
  const password = readPassword(isAdmin ? folder.passwordFile : folder.servicePasswordFile);
  return password !== undefined ? { ...info, password } : undefined;
}

function canConnect(settings: ConnectionSettings): Promise<boolean> {
  const patient = { ...settings, connectionTimeoutMillis: 5_000 };
  return withClient(patient, async () => true).catch(() => false);
}

function notAnsweringError(folder: DataFolder, timeoutMs: number): OperatorError {
  const pid = readServiceInfo(folder)?.pid;
  return new OperatorError(
    `The database of the Signalpost service on ${folder.path}${pid ? ` (process ${pid})` : ''} has not responded for ${Math.round(timeoutMs / 1000)} s. See ${folder.log}.`,
  );
}
