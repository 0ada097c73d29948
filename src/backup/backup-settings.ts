import type { S3Settings } from './backup-repository.ts';
import type { BackupTarget } from './backup-target.ts';

/** Settings of backups. */
export interface BackupSettings {
  /** Where the service keeps backups; undefined: it doesn't back up. */
  readonly to: BackupTarget | undefined;
  /** Max time until a change is in the backup. */
  readonly everySeconds: number;
  /** How many days back a restore is possible. */
  readonly keepDays: number;
  /** The public keys to encrypt for. */
  readonly recipients: readonly string[];
  /** Undefined without an S3 service. */
  readonly s3: S3Settings | undefined;
}
