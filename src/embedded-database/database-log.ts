import { copyFileSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import type { DataFolder } from './data-folder.ts';

/** The log and the one before it take at most twice this on the disk, in bytes. */
const MAX_LOG_BYTES = 10 * 1024 * 1024;

/** How much of the log's end is searched for the reason of a failed start, in bytes. */
const TAIL_BYTES = 16 * 1024;

/** Time, process and kind of a message. */
const LINE_PREFIX = /^[\d-]+ [\d:.]+ UTC \[\d+\] \w+: +/;

/** Opens the log for PostgreSQL to append to; the caller closes the handle. */
export function openDatabaseLog(folder: DataFolder): { handle: number; size: number } {
  limitDatabaseLog(folder);
  const handle = openSync(folder.log, 'a', 0o600);
  return { handle, size: statSync(folder.log).size };
}

/**
 * Keeps the log short: a long one becomes `database.log.1`. It is emptied, not renamed, since
 * PostgreSQL keeps it open; what it says between the two steps is lost.
 */
export function limitDatabaseLog(folder: DataFolder): void {
  const size = statSync(folder.log, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= MAX_LOG_BYTES) return;
  try {
    copyFileSync(folder.log, `${folder.log}.1`);
  } finally {
    // Also where the disk has no space for the copy, and then all the more.
    truncateSync(folder.log);
  }
}

/**
 * Why PostgreSQL ended: the last grave line that it logged since `from` (a byte offset), or else
 * its last line at all; undefined where the log says nothing or cannot be read.
 */
export function lastLogError(folder: DataFolder, from: number): string | undefined {
  const recentLog = readLogSince(folder, from);
  const errors = [...recentLog.matchAll(/(?:FATAL|PANIC|ERROR): +(.*)/g)];
  return errors.at(-1)?.[1] ?? recentLog.trim().split('\n').at(-1)?.replace(LINE_PREFIX, '');
}

function readLogSince(folder: DataFolder, from: number): string {
  try {
    const log = readFileSync(folder.log);
    // A log that was shortened meanwhile is all news.
    const begin = from > log.length ? 0 : from;
    return log.toString('utf8', Math.max(begin, log.length - TAIL_BYTES));
  } catch {
    return '';
  }
}
