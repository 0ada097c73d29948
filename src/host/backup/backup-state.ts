import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readInfoFile, writeInfoFile } from '../embedded-database/service-lock.ts';

/** The last complete base backup, and the last failure since. */
export interface BaseBackupState {
  readonly target: string;
  readonly id: string;
  readonly finishedAt: string;
  readonly bytes: number;
}

/** How the service's backup is doing. */
export interface BackupServiceState {
  readonly target: string;
  /** The last time at which every WAL file was in the backup; undefined before the first. */
  readonly succeededAt?: string | undefined;
  /** WAL files that wait to be stored, and since when. */
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

/** What `doctor` and the metrics know about base backups, by the service and by the command. */
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

/** Forgets the archive while the service runs without one, so that it begins with a new base backup later. */
export function forgetBackupService(dataDir: string): void {
  rmSync(serviceFile(dataDir), { force: true });
}
