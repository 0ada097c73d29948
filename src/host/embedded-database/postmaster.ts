import type { ChildProcess } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../../base/values/within.ts';
import { postmasterLines } from './clear-leftovers.ts';
import type { DataFolder } from './data-folder.ts';
import { type EmbeddedLog, lastLogError, openDatabaseLog } from './database-log.ts';
import {
  type PostgresPrograms,
  programOptions,
  programPath,
  startProgram,
  waitForExit,
} from './postgres-program.ts';

/** A running PostgreSQL that is our child process. */
export interface Postmaster {
  readonly pid: number | undefined;
  /** Resolves with the reason when it has exited. Never rejects. */
  readonly ended: Promise<string>;
  /** Waits until it responds, however long recovery takes. Rejects if it exits instead. */
  ready(): Promise<void>;
  /**
   * Stops it completely if another process is shutting it down (SIGTERM). Otherwise it would reject new connections and
   * wait for pooled ones that never close.
   */
  forceStopIfStopping(): void;
  /** Stops it: transactions are rolled back, everything is flushed, connections are dropped. */
  stop(): Promise<void>;
}

/** PostgreSQL exited before it was ready; the message is the reason it gave. */
export class PostmasterFailed extends Error {
  override name = 'PostmasterFailed';
}

const POLL_MS = 10;
/** Recovery after a crash is normal, so it is logged only if it takes long enough to notice, in ms. */
const LOG_INTERVAL_MS = 10_000;
/** Milliseconds before the stop becomes more forceful; in total this fits into a 30 s shutdown. */
const FAST_STOP_MS = 12_000;
const IMMEDIATE_STOP_MS = 7_000;

/** Starts PostgreSQL on a data folder that nothing else uses. */
export function startPostmaster(
  folder: DataFolder,
  programs: PostgresPrograms,
  log: EmbeddedLog,
): Postmaster {
  const logFile = openDatabaseLog(folder);
  const child = startProgram(programs, 'postgres', ['-D', folder.cluster], {
    cwd: folder.path,
    stdio: ['ignore', logFile.handle, logFile.handle],
  });
  closeSync(logFile.handle);
  // If the service crashes without stopping it, don't leave it running.
  const atExit = () => child.kill('SIGINT');
  process.once('exit', atExit);
  const ended = waitForExit(child).then(({ code, problem }) => {
    process.removeListener('exit', atExit);
    return problem ?? lastLogError(folder, logFile.size) ?? `exited with code ${code}`;
  });
  return {
    pid: child.pid,
    ended,
    ready: () => waitUntilReady(child, ended, folder, log),
    forceStopIfStopping: () => {
      if (postmasterLines(folder)[7]?.trim() === 'stopping') child.kill('SIGINT');
    },
    stop: () => stopChild(child, ended, folder, programs),
  };
}

/** Polls the state in PostgreSQL's pid file, which is faster than trying to connect. */
async function waitUntilReady(
  child: ChildProcess,
  ended: Promise<string>,
  folder: DataFolder,
  log: EmbeddedLog,
): Promise<void> {
  let problem: string | undefined;
  void ended.then((reason) => {
    problem = reason;
  });
  let nextLogAt = Date.now() + LOG_INTERVAL_MS;
  for (;;) {
    if (problem !== undefined) throw new PostmasterFailed(problem);
    const lines = postmasterLines(folder);
    if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return;
    if (Date.now() > nextLogAt) {
      log.info({}, 'the database is still recovering from an unclean shutdown');
      nextLogAt += LOG_INTERVAL_MS;
    }
    await delay(POLL_MS);
  }
}

async function stopChild(
  child: ChildProcess,
  ended: Promise<string>,
  folder: DataFolder,
  programs: PostgresPrograms,
): Promise<void> {
  if (process.platform === 'win32') {
    stopOnWindows(folder, programs);
    await ended;
    return;
  }
  child.kill('SIGINT');
  if (await endsWithin(ended, FAST_STOP_MS)) return;
  child.kill('SIGQUIT');
  if (await endsWithin(ended, IMMEDIATE_STOP_MS)) return;
  child.kill('SIGKILL');
  await ended;
}

async function endsWithin(ended: Promise<string>, timeoutMs: number): Promise<boolean> {
  return (await within(ended, timeoutMs, () => undefined)) !== undefined;
}

/** Windows has no such signals, so this runs `pg_ctl`. */
function stopOnWindows(folder: DataFolder, programs: PostgresPrograms): void {
  execFileSync(
    programPath(programs.folder, 'pg_ctl'),
    ['stop', '-D', folder.cluster, '-m', 'fast', '-w', '-t', String(FAST_STOP_MS / 1000)],
    { ...programOptions(programs.user), stdio: 'ignore' },
  );
}
