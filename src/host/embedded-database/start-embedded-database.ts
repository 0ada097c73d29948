import { chmodSync, chownSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { codeOf } from '../../base/database/sqlstate.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { chooseEndpoint, type DatabaseEndpoint } from './choose-endpoint.ts';
import { clearLeftovers, killDisplacedDatabase } from './clear-leftovers.ts';
import type { ClusterSetting } from './cluster-settings.ts';
import { createCluster } from './create-cluster.ts';
import {
  type DataFolder,
  diskFull,
  folderProblem,
  isDiskFullMessage,
  openDataFolder,
} from './data-folder.ts';
import type { EmbeddedLog } from './database-log.ts';
import {
  ADMIN_ROLE,
  DATABASE_NAME,
  readPassword,
  resetSuperuserPassword,
  SERVICE_ROLE,
  servicePassword,
} from './database-password.ts';
import { chooseDatabaseUser, type DatabaseUser, requireReachable } from './database-user.ts';
import { EmbeddedDatabase } from './embedded-database.ts';
import { findPrograms } from './find-programs.ts';
import { quoteForShell } from './postgres-program.ts';
import { PostmasterFailed } from './postmaster.ts';
import { lockDataFolder } from './service-lock.ts';

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly log: EmbeddedLog;
  /** Aborts a start in progress; it then rejects with the signal's reason after cleaning up. */
  readonly signal?: AbortSignal;
  /** False for throwaway databases: skips fsync. */
  readonly durable?: boolean;
  /** Archives the WAL into the spool folder, a segment that isn't full after this time. */
  readonly archiveEverySeconds?: number | undefined;
  /** PostgreSQL's settings in addition to the service's own, for recovery. */
  readonly moreSettings?: readonly ClusterSetting[];
}

/**
 * Starts the embedded PostgreSQL on a data folder, which is created if missing, and keeps it running until `stop()`.
 *
 * @throws OperatorError if the folder, another service, the platform or PostgreSQL prevents the start
 */
export async function startEmbeddedDatabase(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const folder = openDataFolder(options.dataDir);
  const lock = lockDataFolder(folder);
  try {
    if (existsSync(folder.unfinishedRestore))
      throw new OperatorError(
        `A restore into ${folder.path} didn’t finish. Run the restore again, or empty the folder to start without it.`,
      );
    await killDisplacedDatabase(folder);
    const { log, signal, durable = true, archiveEverySeconds, moreSettings = [] } = options;
    const user = chooseDatabaseUser(folder);
    if (user) requireReachable(folder, user);
    const programs = findPrograms(folder, user);
    const state = await createCluster(folder, programs, { durable, signal });
    rmSync(folder.databaseInfoFile, { force: true });
    const endpoint = await chooseEndpoint(folder, user);
    await clearLeftovers(folder, endpoint, log);
    if (archiveEverySeconds !== undefined) prepareWalSpool(folder, user);
    const archive =
      archiveEverySeconds === undefined ? [] : archiveSettings(folder, archiveEverySeconds);
    const password =
      readPassword(folder.passwordFile) ?? (await resetSuperuserPassword(folder, programs));
    const admin = { ...connectionOf(endpoint), user: ADMIN_ROLE, password };
    const settings = { ...admin, user: SERVICE_ROLE, password: servicePassword(folder) };
    const database = new EmbeddedDatabase({
      folder,
      lock,
      programs,
      endpoint,
      admin,
      settings,
      durable,
      moreSettings: [...archive, ...moreSettings],
      log,
    });
    await database.start(signal);
    log.info({ version: programs.version, state }, 'the embedded database is ready');
    return database;
  } catch (error) {
    lock.release();
    throw startProblem(error, folder) ?? error;
  }
}

function connectionOf({ host, port }: DatabaseEndpoint) {
  return { host, port, database: DATABASE_NAME };
}

function startProblem(error: unknown, folder: DataFolder): OperatorError | undefined {
  if (error instanceof PostmasterFailed) {
    if (isDiskFullMessage(error.message)) return diskFull(folder.path, { cause: error });
    return new OperatorError(
      `The database in ${folder.cluster} does not start: ${error.message}. See ${folder.log}.`,
      { cause: error },
    );
  }
  if (codeOf(error) === '28P01') {
    return new OperatorError(
      `The database in ${folder.cluster} rejects the password in ${folder.passwordFile}. Restore the file from your backup, or remove it to generate a new password.`,
      { cause: error },
    );
  }
  return folderProblem(error, folder.path);
}

/** Creates the folder where PostgreSQL puts WAL for the backup. */
function prepareWalSpool({ walSpool }: DataFolder, user: DatabaseUser | undefined): void {
  mkdirSync(walSpool, { recursive: true });
  chmodSync(walSpool, 0o700);
  if (user) chownSync(walSpool, user.uid, user.gid);
}

/**
 * Archives WAL into the spool folder. PostgreSQL removes a segment once this succeeds, so the copy is flushed before it
 * gets its name. A local copy never waits for the target of the backup.
 */
function archiveSettings({ walSpool }: DataFolder, everySeconds: number): ClusterSetting[] {
  const folder = quoteForShell(walSpool).replaceAll('%', '%%');
  const copy = `${folder}/%f.unfinished`;
  return [
    ['archive_mode', 'on'],
    ['archive_timeout', everySeconds],
    [
      'archive_command',
      `cp "%p" ${copy} && sync ${copy} && mv ${copy} ${folder}/%f && sync ${folder}`,
    ],
  ];
}
