import { parseRecipients } from '../backup/backup-encryption.ts';
import type { S3Settings } from '../backup/backup-target.ts';
import { type BackupSettings, parseBackupTarget } from '../backup/backup-target.ts';
import { OperatorError } from '../foundation/errors.ts';
import { readCount, readList } from './read-setting.ts';

type Read = (name: string) => string | undefined;

/**
 * Reads the settings of backups.
 * @param ownDatabase whether DATABASE_URL is set, so that there is no embedded database to back up
 * @throws OperatorError if a value is invalid or a setting is missing
 */
export function readBackupSettings(
  read: Read,
  dataDir: string,
  ownDatabase: boolean,
): BackupSettings {
  const text = read('BACKUP_TO');
  const recipients = parseRecipients('BACKUP_RECIPIENT', readList(read('BACKUP_RECIPIENT')));
  const settings = {
    to: text === undefined ? undefined : parseBackupTarget('BACKUP_TO', text),
    everySeconds: readDuration('BACKUP_EVERY', read('BACKUP_EVERY') ?? '5m'),
    keepDays: readCount('BACKUP_KEEP_DAYS', read('BACKUP_KEEP_DAYS') ?? '14'),
    recipients,
    s3: readS3Settings(read),
  };
  if (settings.to === undefined) return settings;
  if (ownDatabase)
    throw new OperatorError(
      'BACKUP_TO backs up only the embedded database, but DATABASE_URL is set. Remove BACKUP_TO, and back up your PostgreSQL as in docs/operate/back-up.md.',
    );
  if (recipients.length === 0)
    throw new OperatorError(
      'BACKUP_TO needs BACKUP_RECIPIENT, the public key to encrypt for. Create a key pair with: signalpost backup create-key FILE',
    );
  if (settings.to.kind === 'folder' && `${settings.to.path}/`.startsWith(`${dataDir}/`))
    throw new OperatorError(
      'BACKUP_TO must be outside DATA_DIR, or a lost disk takes the backups with it. Choose a folder on another disk.',
    );
  if (settings.to.kind === 's3' && settings.s3 === undefined)
    throw new OperatorError(
      'BACKUP_TO=s3://… needs BACKUP_S3_ENDPOINT, BACKUP_S3_ACCESS_KEY and BACKUP_S3_SECRET_KEY; set all three.',
    );
  if (process.platform === 'win32')
    throw new OperatorError(
      'BACKUP_TO doesn’t work on Windows. Remove it, and stop the service to copy DATA_DIR.',
    );
  return settings;
}

function readS3Settings(read: Read): S3Settings | undefined {
  const names = ['BACKUP_S3_ENDPOINT', 'BACKUP_S3_ACCESS_KEY', 'BACKUP_S3_SECRET_KEY'] as const;
  const [endpoint, accessKey, secretKey] = names.map(read);
  if (endpoint === undefined || accessKey === undefined || secretKey === undefined) {
    const set = names.find((name) => read(name) !== undefined);
    if (set === undefined) return undefined;
    throw new OperatorError(
      `${set} is set, but ${names.join(', ')} belong together; set all three.`,
    );
  }
  const url = URL.parse(endpoint);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || /[?#]/.test(endpoint))
    throw new OperatorError(
      'BACKUP_S3_ENDPOINT must be the URL of the S3 service without a bucket, such as https://s3.eu-central-1.amazonaws.com.',
    );
  return {
    endpoint: endpoint.replace(/\/+$/, ''),
    region: read('BACKUP_S3_REGION') ?? 'us-east-1',
    accessKey,
    secretKey,
  };
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

/** Seconds, minutes or hours up to a day: `30s`, `5m`, `1h`. @throws OperatorError */
function readDuration(name: string, text: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([smh])$/.exec(text) ?? [];
  const seconds = Number(count) * (unitSeconds[unit] ?? 0);
  if (seconds >= 1 && seconds <= 86_400) return seconds;
  throw new OperatorError(
    `${name} must be a time such as 30s, 5m or 1h, up to 24h, not "${text}".`,
  );
}
