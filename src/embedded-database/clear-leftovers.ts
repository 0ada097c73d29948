import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { clearSocket, type DatabaseEndpoint } from './choose-endpoint.ts';
import { findClusterProcesses, isClusterProcess, readPostmasterPid } from './cluster-processes.ts';
import type { DataFolder } from './data-folder.ts';
import type { EmbeddedLog } from './embedded-log.ts';

/** Increasingly forceful: roll back and flush; stop at once and recover at the next start; kill. */
const STEPS = [
  { signal: 'SIGINT', patienceMs: 15_000 },
  { signal: 'SIGQUIT', patienceMs: 10_000 },
  { signal: 'SIGKILL', patienceMs: 5_000 },
] as const;

const POLL_MS = 10;

/**
 * Clears the way for a new PostgreSQL on this data folder.
 *
 * This process holds the service lock, so a PostgreSQL still running here has lost its service and is stopped. The
 * files of a killed one (pid file, socket and socket lock) are removed, because PostgreSQL would take them for those
 * of a running server if the process id now belongs to any other process.
 */
export async function clearLeftovers(
  folder: DataFolder,
  endpoint: DatabaseEndpoint,
  log: EmbeddedLog,
): Promise<void> {
  const pid = readPostmasterPid(folder);
  if (pid !== undefined && isClusterProcess(pid, folder)) {
    log.warn({ pid }, 'stopping the database that an earlier service left running');
    await endProcess(pid, folder);
  }
  // Backends of a killed postmaster notice that it is gone only when their statement ends.
  for (const orphan of findClusterProcesses(folder)) await endProcess(orphan, folder);
  rmSync(join(folder.cluster, 'postmaster.pid'), { force: true });
  clearSocket(endpoint);
}

async function endProcess(pid: number, folder: DataFolder): Promise<void> {
  for (const { signal, patienceMs: timeoutMs } of STEPS) {
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
  throw new Error(`process ${pid} of ${folder.cluster} does not exit`);
}
