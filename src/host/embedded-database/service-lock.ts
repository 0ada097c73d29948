import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, OperatorError } from '../../base/values/errors.ts';
import type { DataFolder } from './data-folder.ts';

/** The right to be the only service on a data folder. */
export type ServiceLock = {
  /** Publishes the service's URL. */
  announce(url: string): void;
  release(): void;
};

/** How long a start waits for a lock that another process holds only to check it, in milliseconds. */
const LOCK_TIMEOUT_MS = 300;

/** How often a start retries while the lock's holder hasn't written its PID yet. */
const NAMELESS_RETRIES = 10;

const SQLITE_BUSY = 5;

/**
 * Locks a data folder for this process with SQLite's file lock. It is a kernel lock on every platform, so it ends with the
 * process however that exits, and PostgreSQL, a child process, doesn't inherit it.
 *
 * @throws OperatorError if another service runs on the folder
 */
export function lockDataFolder(folder: DataFolder): ServiceLock {
  let lock = tryLock(folder, LOCK_TIMEOUT_MS);
  let pid = readServiceInfo(folder)?.pid;
  // A process that just got the lock may not have written its PID yet, which the operator needs to find it.
  for (let retry = 0; !lock && !pid && retry < NAMELESS_RETRIES; retry += 1) {
    lock = tryLock(folder, LOCK_TIMEOUT_MS);
    pid = readServiceInfo(folder)?.pid;
  }
  if (!lock) {
    throw new OperatorError(
      `Another Signalpost${pid ? ` (process ${pid})` : ''} is already running on ${folder.path}. Stop it, or set DATA_DIR to another folder.`,
    );
  }
  const started = { pid: process.pid, startedAt: new Date().toISOString() };
  writeInfoFile(folder.serviceInfoFile, started);
  return {
    announce: (url) => writeInfoFile(folder.serviceInfoFile, { ...started, url }),
    release: () => {
      if (!lock.isOpen) return;
      rmSync(folder.serviceInfoFile, { force: true });
      lock.close();
    },
  };
}

/** Whether a service runs on this folder. */
export function isDataFolderLocked(folder: DataFolder): boolean {
  const lock = tryLock(folder, 0);
  lock?.close();
  return !lock;
}

function tryLock(folder: DataFolder, timeoutMs: number): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    // Created separately, so that no other user can open and lock it. Don't open it by other means: closing it would
    // release the lock, because POSIX record locks belong to the process.
    if (!existsSync(folder.lockFile)) writeFileSync(folder.lockFile, '', { mode: 0o600 });
    database = new DatabaseSync(folder.lockFile, { timeout: timeoutMs });
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return database;
  } catch (cause) {
    database?.close();
    if (cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY) {
      return undefined;
    }
    const reason = messageOf(cause);
    throw new OperatorError(
      `The file ${folder.lockFile} can’t be locked (${reason}). Run Signalpost as the owner of DATA_DIR, and keep DATA_DIR on a local disk.`,
      { cause },
    );
  }
}

/** The service that runs, or ran last, on a data folder. */
export type ServiceInfo = { pid: number; startedAt: string; url?: string };

/** Reads which service runs, or ran last, on a folder; undefined if unknown. */
export function readServiceInfo(folder: DataFolder): ServiceInfo | undefined {
  return readInfoFile<ServiceInfo>(folder.serviceInfoFile);
}

/** Writes a small JSON file readable only by this user, completely or not at all. */
export function writeInfoFile(path: string, content: object): void {
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(content)}\n`, { mode: 0o600 });
  renameSync(unfinished, path);
}

/** Reads what `writeInfoFile` wrote; undefined if missing or unreadable. */
export function readInfoFile<Info extends object>(path: string): Info | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Info;
  } catch {
    return undefined;
  }
}
