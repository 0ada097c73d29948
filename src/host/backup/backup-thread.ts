import '../../base/threads/lock-intrinsics.ts';
import { setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import { createLog } from '../../base/values/log.ts';
import { type BackupServiceJob, runBackups } from './run-backups.ts';

/** Yields to the event loop, but keeps up with the WAL of a busy service, unlike the lowest priority. */
const niceness = 5;

// Only Linux has thread priorities.
if (process.platform === 'linux')
  try {
    setPriority(niceness);
  } catch {
    // A sandbox may forbid it.
  }

const job: BackupServiceJob = workerData;
await runBackups(job, createLog(job.logLevel));
