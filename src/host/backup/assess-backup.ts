import { type Diagnosis, fine, problem } from '../../base/values/diagnosis.ts';
import { readBackupServiceState, readBaseBackupState } from './backup-state.ts';
import { type BackupSettings, formatBackupTarget } from './backup-target.ts';

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** A time span in its largest unit: `3 hours`. */
function formatTimeSpan(ms: number): string {
  const [name, size] = units.find(([, unit]) => ms >= unit) ?? units[3];
  const count = Math.floor(Math.max(0, ms) / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

interface BackedUpInstallation {
  /** Undefined for the embedded database; the operator's own is backed up with its own tools. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly backup: BackupSettings;
}

/** A daily base backup may take some hours, and a failed one is retried. */
const maxBaseAgeMs = 36 * 60 * 60 * 1_000;
/** WAL is stored within seconds, unless the target can't be reached. */
const minMaxWaitMs = 5 * 60 * 1_000;

const page = 'See docs/operate/back-up.md.';

/**
 * Assesses whether the embedded database is backed up and nothing has been waiting for long.
 * @param isRunning whether the service runs, which alone knows of failures
 */
export function assessBackup(
  { databaseUrl, dataDir, backup }: BackedUpInstallation,
  isRunning: boolean,
): Diagnosis {
  if (databaseUrl !== undefined) return fine('not checked (external PostgreSQL)');
  const { to, everySeconds } = backup;
  const base = readBaseBackupState(dataDir);
  const age = base && Date.now() - Date.parse(base.finishedAt);
  if (to === undefined) {
    if (base === undefined || age === undefined)
      return fine('none', `Set BACKUP_TO and BACKUP_RECIPIENT. ${page}`);
    return fine(
      `to ${base.target}, ${formatTimeSpan(age)} ago; later mail isn’t backed up`,
      `To back up continuously, set BACKUP_TO. ${page}`,
    );
  }
  const target = formatBackupTarget(to);
  const service = readBackupServiceState(dataDir);
  if (!isRunning) return fine(`to ${target}; not checked without a running service`);
  const failure = service?.baseProblem ?? service?.problem;
  if (failure !== undefined) return problem(`to ${target} fails: ${failure}`, page);
  if (base?.target !== target || age === undefined)
    return problem(
      `to ${target}: none yet`,
      'Wait a few minutes for the first backup, then check the log of the service.',
    );
  if (age > maxBaseAgeMs)
    return problem(
      `the last base backup to ${target} is ${formatTimeSpan(age)} old`,
      'Restart the service, and check its log.',
    );
  const waitMs =
    service?.waitingSince === undefined ? 0 : Date.now() - Date.parse(service.waitingSince);
  if (waitMs > Math.max(3 * everySeconds * 1_000, minMaxWaitMs))
    return problem(
      `${service?.waiting} WAL files have waited for ${formatTimeSpan(waitMs)} to be stored in ${target}`,
      `Check the log of the service and database.log in ${dataDir}.`,
    );
  return fine(
    `to ${target}, base backup ${formatTimeSpan(age)} ago, changes every ${formatTimeSpan(everySeconds * 1_000)}`,
  );
}
