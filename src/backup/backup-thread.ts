import '../foundation/lower-thread-priority.ts';
import { workerData } from 'node:worker_threads';
import { createLog } from '../foundation/log.ts';
import { type BackupServiceJob, runBackups } from './run-backups.ts';

const job: BackupServiceJob = workerData;
await runBackups(job, createLog(job.logLevel));
