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
import { codeOf } from '../foundation/database/sqlstate.ts';
import { OperatorError } from '../foundation/errors.ts';

/** Where everything of the embedded database lies inside `DATA_DIR`. */
export type DataFolder = {
  /** `DATA_DIR` itself, absolute and without symbolic links. */
  readonly path: string;
  /** The data folder of PostgreSQL. */
  readonly cluster: string;
  /** Folder of the Unix socket, unless its path is too long for one. */
  readonly run: string;
  /** What PostgreSQL says. */
  readonly log: string;
  /** The random password of the database's superuser. */
  readonly passwordFile: string;
  /** The random password of the role that the service runs with. */
  readonly servicePasswordFile: string;
  /** How to reach the running database: read by other processes of this installation. */
  readonly databaseInfoFile: string;
  /** Locked as long as a service runs on this folder. Its content is never read. */
  readonly lockFile: string;
  /** Which process runs on this folder, and at which address it answers. */
  readonly serviceInfoFile: string;
};

/** Files that tell a data folder from any other folder. */
const OUR_FILES = ['service.lock', 'signalpost.key'];

/** The places inside a data folder; touches nothing. */
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
  };
}

/**
 * Makes `DATA_DIR` where it is missing and proves that it can be read and written.
 *
 * A folder made here is for its owner alone (0700). Root makes it passable (0711), because
 * PostgreSQL refuses to be root and its user has to get through to its own folder inside; the
 * files in it stay closed to that user.
 *
 * @throws OperatorError where it cannot be used
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
 * Makes a folder and those above it. By hand, since Node's own recursion ends in an endless loop
 * where a system says ENOENT although the parent is there (as /proc does).
 */
function makeFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) throw notAFolder(path);
  makeFolder(dirname(path));
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  try {
    mkdirSync(path, { mode });
    // The umask may have closed it.
    chmodSync(path, mode);
  } catch (error) {
    // Another start may have been quicker; a link to nowhere says the same.
    if (codeOf(error) !== 'EEXIST') throw error;
    if (!statSync(path).isDirectory()) throw notAFolder(path);
  }
}

/** Lets others pass through a closed folder of root, where it is empty or Signalpost's already. */
function allowTraversal(path: string): void {
  const { mode, uid } = statSync(path);
  if (uid !== 0 || (mode & 0o011) === 0o011) return;
  const names = readdirSync(path);
  const isOurs = names.length === 0 || names.some((name) => OUR_FILES.includes(name));
  if (isOurs) chmodSync(path, (mode & 0o777) | 0o011);
}

/**
 * What an operating system error on `DATA_DIR` means to the operator, in one sentence; undefined
 * for errors that are not about the folder or the disk.
 */
export function folderProblem(error: unknown, path: string): OperatorError | undefined {
  if (error instanceof OperatorError) return error;
  const options = { cause: error };
  switch (codeOf(error)) {
    case 'EACCES':
    case 'EPERM':
      return new OperatorError(
        `DATA_DIR ${path} cannot be read and written by this user. Give the folder to this user, or set DATA_DIR to another folder.`,
        options,
      );
    case 'EROFS':
      return new OperatorError(
        `DATA_DIR ${path} is on a file system that is read-only. Set DATA_DIR to another folder.`,
        options,
      );
    case 'ENOTDIR':
    case 'EEXIST':
      return notAFolder(path, options);
    case 'ENOENT':
    case 'ENAMETOOLONG':
    case 'ELOOP':
      return new OperatorError(
        `DATA_DIR ${path} cannot be made. Set DATA_DIR to another folder.`,
        options,
      );
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(path, options);
    default:
      return undefined;
  }
}

function notAFolder(path: string, options?: ErrorOptions): OperatorError {
  return new OperatorError(`${path} is not a folder. Set DATA_DIR to a folder.`, options);
}

/** The sentence for a disk without space. */
export function diskFull(path: string, options?: ErrorOptions): OperatorError {
  return new OperatorError(
    `The disk of DATA_DIR ${path} is full. Free some space, or set DATA_DIR to a folder on another disk.`,
    options,
  );
}

/** Whether a program of PostgreSQL complains of a full disk (its messages stay English). */
export function isDiskFullMessage(message: string): boolean {
  return /no space left on device|disk quota exceeded/i.test(message);
}
