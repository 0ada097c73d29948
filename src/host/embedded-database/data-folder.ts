import {
  chmodSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { codeOf } from '../../base/database/sqlstate.ts';
import { OperatorError } from '../../base/values/errors.ts';

/** The files and folders of the embedded database inside `DATA_DIR`. */
export type DataFolder = {
  /** `DATA_DIR` itself, absolute and with symbolic links resolved. */
  readonly path: string;
  /** The data folder of PostgreSQL. */
  readonly cluster: string;
  /** Folder of the Unix socket, unless the path is too long for one. */
  readonly run: string;
  /** PostgreSQL's log. */
  readonly log: string;
  /** The random password of the superuser. */
  readonly passwordFile: string;
  /** The random password of the service's role. */
  readonly servicePasswordFile: string;
  /** How to connect to the running database, for other processes of this installation. */
  readonly databaseInfoFile: string;
  /** Locked while a service runs on this folder. Its content is never read. */
  readonly lockFile: string;
  /** The process that runs on this folder, and its URL. */
  readonly serviceInfoFile: string;
  /** What a restore has built so far. While it exists, no service starts. */
  readonly unfinishedRestore: string;
  /** Where PostgreSQL puts WAL for the backup. */
  readonly walSpool: string;
};

/** Files that identify a folder as a data folder. */
const OUR_FILES = ['service.lock', 'signalpost.key'];

/** The paths inside a data folder; doesn't access the file system. */
export function dataFolderAt(path: string): DataFolder {
  return {
    path,
    cluster: join(path, 'database'),
    run: join(path, 'run'),
    log: join(path, 'database.log'),
    passwordFile: join(path, 'database.password'),
    servicePasswordFile: join(path, 'database.service.password'),
    databaseInfoFile: join(path, 'database.json'),
    lockFile: join(path, 'service.lock'),
    serviceInfoFile: join(path, 'service.json'),
    unfinishedRestore: join(path, 'restore.unfinished'),
    walSpool: join(path, 'wal-spool'),
  };
}

/**
 * Creates `DATA_DIR` if missing and checks that it can be read and written.
 *
 * A new folder is private to its owner (0700). Root makes it traversable (0711), because PostgreSQL refuses to run as
 * root and its user must reach its own folder inside; the files in it remain inaccessible to that user.
 *
 * @throws OperatorError if it can't be used
 */
export function openDataFolder(dataDir: string): DataFolder {
  const wanted = resolve(dataDir);
  try {
    makeFolder(wanted);
    const path = realpathSync(wanted);
    if (process.getuid?.() === 0) allowTraversal(path);
    else readdirSync(path);
    const probe = join(path, `.probe-${process.pid}`);
    writeFileSync(probe, 'x'.repeat(4096), { mode: 0o600, flush: true });
    rmSync(probe);
    return dataFolderAt(path);
  } catch (error) {
    throw folderProblem(error, wanted) ?? error;
  }
}

/**
 * Creates a folder and its parents. Not with Node's recursive option, which loops forever on systems that report
 * ENOENT although the parent exists (as /proc does).
 */
function makeFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) throw notAFolder(path);
  makeFolder(dirname(path));
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  try {
    mkdirSync(path, { mode });
    // The umask may have restricted it.
    chmodSync(path, mode);
  } catch (error) {
    // Another process may have created it; a dangling link gives the same error.
    if (codeOf(error) !== 'EEXIST') throw error;
    if (!statSync(path).isDirectory()) throw notAFolder(path);
  }
}

/** Makes root's private folder traversable if it is empty or already a data folder. */
function allowTraversal(path: string): void {
  const { mode, uid } = statSync(path);
  if (uid !== 0 || (mode & 0o011) === 0o011) return;
  const names = readdirSync(path);
  const isOurs = names.length === 0 || names.some((name) => OUR_FILES.includes(name));
  if (isOurs) chmodSync(path, (mode & 0o777) | 0o011);
}

/**
 * Translates an operating system error on `DATA_DIR` for the operator; undefined for errors that are not about the
 * folder or the disk.
 */
export function folderProblem(error: unknown, path: string): OperatorError | undefined {
  if (error instanceof OperatorError) return error;
  const code = codeOf(error) ?? '';
  const options = { cause: error };
  if (code === 'ENOTDIR' || code === 'EEXIST') return notAFolder(path, options);
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFull(path, options);
  const problem = folderProblems[code];
  if (problem === undefined) return undefined;
  return new OperatorError(`DATA_DIR ${path} ${problem}`, options);
}

const notAccessible =
  'can’t be read and written by this user. Change the owner of the folder to this user, or set DATA_DIR to another folder.';
const notCreatable = 'can’t be created. Set DATA_DIR to another folder.';

/** What the operating system's errors mean, after the name of the folder. */
const folderProblems: Readonly<Record<string, string | undefined>> = {
  EACCES: notAccessible,
  EPERM: notAccessible,
  EROFS: 'is on a read-only file system. Set DATA_DIR to another folder.',
  ENOENT: notCreatable,
  ENAMETOOLONG: notCreatable,
  ELOOP: notCreatable,
};

function notAFolder(path: string, options?: ErrorOptions): OperatorError {
  return new OperatorError(`${path} is not a folder. Set DATA_DIR to a folder.`, options);
}

/** The error for a full disk. */
export function diskFull(path: string, options?: ErrorOptions): OperatorError {
  return new OperatorError(
    `The disk of DATA_DIR ${path} is full. Free some space, or set DATA_DIR to a folder on another disk.`,
    options,
  );
}

/** Whether an error message of a PostgreSQL program is about a full disk (its messages are always in English). */
export function isDiskFullMessage(message: string): boolean {
  return /no space left on device|disk quota exceeded/i.test(message);
}
