import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { clearSocket, type DatabaseEndpoint } from './choose-endpoint.ts';
import type { DataFolder } from './data-folder.ts';
import type { EmbeddedLog } from './database-log.ts';

/** The process ID in `postmaster.pid`, which may have been reused; undefined without the file. */
function readPostmasterPid(folder: DataFolder): number | undefined {
  const pid = Number.parseInt(postmasterLines(folder)[0] ?? '', 10);
  return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
}

/** The lines of `postmaster.pid`: the first is the process ID, the eighth the state. */
export function postmasterLines(folder: DataFolder): string[] {
  try {
    return readFileSync(join(folder.cluster, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}

/**
 * Whether this process is a PostgreSQL on this data folder. The id alone proves nothing, since another process may have
 * it after a reboot.
 */
function isClusterProcess(pid: number, folder: DataFolder): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform === 'linux') return runsInCluster(pid, folder);
  // Its command line ends with the folder, possibly in quotes on Windows.
  return commandOf(pid).trimEnd().replace(/"$/, '').endsWith(folder.cluster);
}

/** All processes of the machine that are like this. Linux only; elsewhere what is left of PostgreSQL exits on its own. */
function findProcesses(isWanted: (pid: number) => boolean): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isWanted(pid));
}

/** Whether a PostgreSQL process runs on a removed folder of the same name. */
function isDisplaced(pid: number, folder: DataFolder): boolean {
  try {
    return isPostgres(pid) && readlinkSync(`/proc/${pid}/cwd`) === `${folder.cluster} (deleted)`;
  } catch {
    return false;
  }
}

/** Every PostgreSQL process runs in its data folder; compares by identity, not by name. */
function runsInCluster(pid: number, folder: DataFolder): boolean {
  try {
    if (!isPostgres(pid)) return false;
    const own = statSync(folder.cluster);
    const its = statSync(`/proc/${pid}/cwd`);
    return own.ino === its.ino && own.dev === its.dev;
  } catch {
    return false;
  }
}

function isPostgres(pid: number): boolean {
  const [program = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split(/[\0:]/);
  return basename(program).startsWith('postgres');
}

function commandOf(pid: number): string {
  const [program, args] =
    process.platform === 'win32'
      ? ([
          'powershell',
          [
            '-NoProfile',
            '-Command',
            `(Get-CimInstance Win32_Process -Filter "ProcessId=${pid}").CommandLine`,
          ],
        ] as const)
      : (['ps', ['-ww', '-o', 'command=', '-p', String(pid)]] as const);
  try {
    return execFileSync(program, args, { encoding: 'utf8', windowsHide: true });
  } catch {
    return '';
  }
}

/** Increasingly forceful: roll back and flush, stop at once and recover at the next start, kill. */
const STEPS = [
  { signal: 'SIGINT', timeoutMs: 15_000 },
  { signal: 'SIGQUIT', timeoutMs: 10_000 },
  { signal: 'SIGKILL', timeoutMs: 5_000 },
] as const;

const POLL_MS = 10;

/**
 * Stops a PostgreSQL that an earlier service left running on this data folder, and removes the pid file, socket and
 * socket lock of a killed one. If its process ID has been reused, PostgreSQL would take these files for a running server's.
 */
export async function clearLeftovers(
  folder: DataFolder,
  endpoint: DatabaseEndpoint,
  log: EmbeddedLog,
): Promise<void> {
  await stopLeftoverDatabase(folder, log);
  rmSync(join(folder.cluster, 'postmaster.pid'), { force: true });
  clearSocket(endpoint);
}

/**
 * Kills a PostgreSQL whose folder was removed while it was running. It writes its control file by path, so a checkpoint,
 * also that of a graceful stop, would damage a new database in its place.
 */
export async function killDisplacedDatabase(folder: DataFolder): Promise<void> {
  for (;;) {
    const pids = findProcesses((pid) => isDisplaced(pid, folder));
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has just exited.
      }
    }
    await delay(POLL_MS);
  }
}

/** Stops a PostgreSQL that a killed process left running on this data folder. */
export async function stopLeftoverDatabase(folder: DataFolder, log: EmbeddedLog): Promise<void> {
  // This process holds the service lock, so no running service uses what is found here.
  const pid = readPostmasterPid(folder);
  if (pid !== undefined && isClusterProcess(pid, folder)) {
    log.warn({ pid }, 'stopping the database that an earlier service left running');
    await endProcess(pid, folder);
  }
  // Backends of a killed postmaster notice that it is gone only when their statement ends.
  for (const orphan of findProcesses((one) => runsInCluster(one, folder)))
    await endProcess(orphan, folder);
}

async function endProcess(pid: number, folder: DataFolder): Promise<void> {
  for (const { signal, timeoutMs } of STEPS) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    const deadline = Date.now() + timeoutMs;
    while (Date.now() < deadline) {
      if (!isClusterProcess(pid, folder)) return;
      await delay(POLL_MS);
    }
  }
  throw new Error(`process ${pid} of ${folder.cluster} doesn’t exit`);
}
