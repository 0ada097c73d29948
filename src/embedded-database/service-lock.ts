import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../foundation/errors.ts';
import type { DataFolder } from './data-folder.ts';

/** The right to be the one service on a data folder. */
export type ServiceLock = {
  /** Records the address at which this service answers. */
  announce(url: string): void;
  release(): void;
};

/** How long a start waits for a lock that another process only looks at, in milliseconds. */
const LOCK_TIMEOUT_MS = 300;

const SQLITE_BUSY = 5;

/**
 * Locks a data folder for this process.
 *
 * The lock is SQLite's lock on a file: the kernel's own, on every platform, gone with the process
 * however it ends, so that no stale lock can ever stand in the way of a start. PostgreSQL, started
 * as a child, does not inherit it. Opening and closing the lock file by other means in this
 * process would drop the lock (POSIX record locks belong to the process), hence nobody reads it.
 *
 * @throws OperatorError where another service runs on the folder
 */
export function lockDataFolder(folder: DataFolder): ServiceLock {
  const lock = tryLock(folder, LOCK_TIMEOUT_MS);
  if (!lock) {
    const pid = readServiceInfo(folder)?.pid;
    throw new OperatorError(
      `Another Signalpost${pid ? ` (process ${pid})` : ''} already runs on ${folder.path}. Stop it, or set DATA_DIR to another folder.`,
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
    // Made apart, so that no other user can open and lock it; never opened again, as said above.
    if (!existsSync(folder.lockFile)) writeFileSync(folder.lockFile, '', { mode: 0o600 });
    database = new DatabaseSync(folder.lockFile, { timeout: timeoutMs });
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return database;
  } catch (cause) {
    database?.close();
    if (cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY) {
      return undefined;
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new OperatorError(
      `The file ${folder.lockFile} cannot be locked (${reason}). Run Signalpost as the user who owns DATA_DIR, and keep DATA_DIR on a local disk.`,
      { cause },
    );
  }
}

/** The process that runs, or ran last, on a data folder. */
export type ServiceInfo = { pid: number; startedAt: string; url?: string };

/** Reads which service runs, or ran last, on a folder; undefined where none says so. */
export function readServiceInfo(folder: DataFolder): ServiceInfo | undefined {
  return readInfoFile<ServiceInfo>(folder.serviceInfoFile);
}

/** Writes a small JSON file that only this user can read, whole or not at all. */
export function writeInfoFile(path: string, content: object): void {
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(content)}\n`, { mode: 0o600 });
  renameSync(unfinished, path);
}

/** Reads what `writeNote` wrote; undefined where there is nothing, or nothing readable. */
export function readInfoFile<Info extends object>(path: string): Info | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Info;
  } catch {
    return undefined;
  }
}
