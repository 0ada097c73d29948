import { OperatorError } from '../../base/values/errors.ts';
import type { BackupSettings, S3Settings } from '../../host/backup/backup-target.ts';
import type { SettingReader } from './settings-table.ts';

/**
 * Reads the settings of backups.
 * @throws OperatorError if a value is invalid or a setting is missing
 */
export function readBackupSettings(given: SettingReader, dataDir: string): BackupSettings {
  const recipients = given.read('BACKUP_RECIPIENT');
  const settings = {
    to: given.read('BACKUP_TO'),
    everySeconds: given.read('BACKUP_EVERY'),
    keepDays: given.read('BACKUP_KEEP_DAYS'),
    recipients,
    s3: readS3Settings(given),
  };
  if (settings.to === undefined) return settings;
  if (given.isSet('DATABASE_URL'))
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

const s3Names = ['BACKUP_S3_ENDPOINT', 'BACKUP_S3_ACCESS_KEY', 'BACKUP_S3_SECRET_KEY'] as const;

function readS3Settings(given: SettingReader): S3Settings | undefined {
  if (!s3Names.every((name) => given.isSet(name)))
    given.refuse(s3Names, `${s3Names.join(', ')} belong together; set all three.`);
  const [endpoint, accessKey, secretKey] = s3Names.map((name) => given.read(name));
  if (endpoint === undefined || accessKey === undefined || secretKey === undefined)
    return undefined;
  return { endpoint, region: given.read('BACKUP_S3_REGION'), accessKey, secretKey };
}
