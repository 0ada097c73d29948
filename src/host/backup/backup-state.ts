import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readInfoFile, writeInfoFile } from '../embedded-database/service-lock.ts';

/** The last complete base backup. */
export interface BaseBackupState {
  readonly target: string;
  readonly id: string;
  readonly finishedAt: string;
  readonly bytes: number;
}

/** State of the service's backup. */
export interface BackupServiceState {
  readonly target: string;
  /** When all WAL files were last in the backup; undefined before the first time. */
  readonly succeededAt?: string | undefined;
  /** WAL files waiting to be stored, and since when. */
  readonly waiting: number;
  readonly waitingSince?: string | undefined;
  /** Why the last attempt to store WAL failed; undefined if it succeeded. */
  readonly problem?: string | undefined;
  /** The same for the last base backup. */
  readonly baseProblem?: string | undefined;
  /** Whether WAL was lost since the last base backup, so a new one must follow. */
  readonly hasGap: boolean;
}

const baseFile = (dataDir: string) => join(dataDir, 'backup.base.json');
const serviceFile = (dataDir: string) => join(dataDir, 'backup.service.json');

/** The last base backup by the service or the command, for `doctor` and the metrics. */
export function readBaseBackupState(dataDir: string): BaseBackupState | undefined {
  return readInfoFile<BaseBackupState>(baseFile(dataDir));
}

export function writeBaseBackupState(dataDir: string, state: BaseBackupState): void {
  writeInfoFile(baseFile(dataDir), state);
}

/** The state of the service's backup; undefined before it has archived anything. */
export function readBackupServiceState(dataDir: string): BackupServiceState | undefined {
  return readInfoFile<BackupServiceState>(serviceFile(dataDir));
}

export function writeBackupServiceState(dataDir: string, state: BackupServiceState): void {
  writeInfoFile(serviceFile(dataDir), state);
}

/** When the service or the command last finished a backup (RFC 3339); undefined if neither has. */
export function readLastBackupAt(dataDir: string): string | undefined {
  const times = [
    readBackupServiceState(dataDir)?.succeededAt,
    readBaseBackupState(dataDir)?.finishedAt,
  ];
  return times
    .filter((time) => time !== undefined)
    .toSorted()
    .at(-1);
}

/** Forgets the archive if the service runs without one, so a later one begins with a new base backup. */
export function forgetBackupService(dataDir: string): void {
  rmSync(serviceFile(dataDir), { force: true });
}
