import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DataFolder } from './data-folder.ts';

/** The process ID in `postmaster.pid`, which may have been reused; undefined without the file. */
export function readPostmasterPid(folder: DataFolder): number | undefined {
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
export function isClusterProcess(pid: number, folder: DataFolder): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform === 'linux') return runsInCluster(pid, folder);
  // Its command line ends with the folder, possibly in quotes on Windows.
  return commandOf(pid).trimEnd().replace(/"$/, '').endsWith(folder.cluster);
}

/**
 * All PostgreSQL processes on this data folder, including backends of a killed postmaster that are still running a
 * statement. Linux only; elsewhere they exit on their own.
 */
export function findClusterProcesses(folder: DataFolder): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && runsInCluster(pid, folder));
}

/** PostgreSQL processes that run on a removed folder of the same name. Linux only. */
export function findDisplacedProcesses(folder: DataFolder): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        return (
          Number.isInteger(pid) &&
          isPostgres(pid) &&
          readlinkSync(`/proc/${pid}/cwd`) === `${folder.cluster} (deleted)`
        );
      } catch {
        return false;
      }
    });
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
