import { resolve } from 'node:path';
import { OperatorError } from '../../base/values/errors.ts';

/** Access to an S3 service; the target names the bucket. */
export interface S3Settings {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

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

/** Where backups are kept: a folder of this machine, or a bucket with an optional prefix. */
export type BackupTarget =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string };

/** Only characters that need no escaping in URLs, XML and shells. */
const s3Pattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9._-]+)*)\/?$/;

/**
 * Parses a folder or `s3://bucket/prefix`.
 * @param name the setting or argument, for the error message
 * @throws OperatorError for other URLs and invalid bucket names
 */
export function parseBackupTarget(name: string, text: string): BackupTarget {
  const [, bucket, path = ''] = s3Pattern.exec(text) ?? [];
  const hasDots = path.split('/').some((part) => part === '.' || part === '..');
  if (bucket !== undefined && !hasDots)
    return { kind: 's3', bucket, prefix: path === '' ? '' : `${path.slice(1)}/` };
  if (text.trim() === '' || /^[a-z0-9+.-]+:\/\//i.test(text))
    throw new OperatorError(
      `${name} must be a folder such as /mnt/backup, or a bucket such as s3://bucket/prefix, not "${text}".`,
    );
  return { kind: 'folder', path: resolve(text) };
}

/** The target as the operator writes it. */
export function formatBackupTarget(target: BackupTarget): string {
  return target.kind === 'folder'
    ? target.path
    : `s3://${target.bucket}/${target.prefix}`.replace(/\/$/, '');
}
