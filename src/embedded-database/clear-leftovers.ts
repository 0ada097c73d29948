import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { clearSocket, type DatabaseEndpoint } from './choose-endpoint.ts';
import {
  findClusterProcesses,
  findDisplacedProcesses,
  isClusterProcess,
  readPostmasterPid,
} from './cluster-processes.ts';
import type { DataFolder } from './data-folder.ts';
import type { EmbeddedLog } from './embedded-log.ts';

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
    const pids = findDisplacedProcesses(folder);
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
  for (const orphan of findClusterProcesses(folder)) await endProcess(orphan, folder);
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
