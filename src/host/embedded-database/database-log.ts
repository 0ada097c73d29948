import { copyFileSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import type { DataFolder } from './data-folder.ts';

/** The log interface of the embedded database; a pino logger fits. */
export interface EmbeddedLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Max bytes of the log; with the previous one, it takes at most twice this. */
const MAX_LOG_BYTES = 10 * 1024 * 1024;

/** Bytes at the end of the log to search for the reason of a failed start. */
const TAIL_BYTES = 16 * 1024;

/** Time, process ID and severity of a message. */
const LINE_PREFIX = /^[\d-]+ [\d:.]+ UTC \[\d+\] \w+: +/;

/** Opens the log for PostgreSQL to append to; the caller closes the handle. */
export function openDatabaseLog(folder: DataFolder): { handle: number; size: number } {
  limitDatabaseLog(folder);
  const handle = openSync(folder.log, 'a', 0o600);
  return { handle, size: statSync(folder.log).size };
}

/**
 * Limits the log's size: a long one is copied to `database.log.1` and truncated. It can't be renamed because
 * PostgreSQL keeps it open; messages between the two steps are lost.
 */
export function limitDatabaseLog(folder: DataFolder): void {
  const size = statSync(folder.log, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= MAX_LOG_BYTES) return;
  try {
    copyFileSync(folder.log, `${folder.log}.1`);
  } finally {
    // Also if the disk has no space for the copy, when it matters most.
    truncateSync(folder.log);
  }
}

/**
 * Why PostgreSQL exited: the last severe message logged since `from` (a byte offset), or else the last line;
 * undefined if the log is empty or unreadable.
 */
export function lastLogError(folder: DataFolder, from: number): string | undefined {
  const recentLog = readLogSince(folder, from);
  const errors = [...recentLog.matchAll(/(?:FATAL|PANIC|ERROR): +(.*)/g)];
  return errors.at(-1)?.[1] ?? recentLog.trim().split('\n').at(-1)?.replace(LINE_PREFIX, '');
}

function readLogSince(folder: DataFolder, from: number): string {
  try {
    const log = readFileSync(folder.log);
    // If the log was truncated in the meantime, all of it is new.
    const begin = from > log.length ? 0 : from;
    return log.toString('utf8', Math.max(begin, log.length - TAIL_BYTES));
  } catch {
    return '';
  }
}
