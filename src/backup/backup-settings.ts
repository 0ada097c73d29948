import type { S3Settings } from './backup-repository.ts';
import type { BackupTarget } from './backup-target.ts';

/** Settings of backups. */
export interface BackupSettings {
  /** Where the service keeps backups; undefined: it takes none. */
  readonly to: BackupTarget | undefined;
  /** After this time at most, a change is in the backup. */
  readonly everySeconds: number;
  /** Days to which a restore is possible. */
  readonly keepDays: number;
  /** The public keys to encrypt for. */
  readonly recipients: readonly string[];
  /** Undefined without an S3 service. */
  readonly s3: S3Settings | undefined;
}
