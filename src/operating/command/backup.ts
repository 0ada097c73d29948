import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { migrate } from '../../base/database/migrate.ts';
import { openDatabase } from '../../base/database/open-database.ts';
import { removeKeyNodes } from '../../base/secrets/key-rotation-store.ts';
import { readSecrets } from '../../base/secrets/load-master-key.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { createLog } from '../../base/values/log.ts';
import { parseTimestamp } from '../../base/values/parse-timestamp.ts';
import { createIdentity, readIdentityFile } from '../../host/backup/backup-encryption.ts';
import { bytesOf, readBackupManifests } from '../../host/backup/backup-manifest.ts';
import { openBackupRepository } from '../../host/backup/backup-repository.ts';
import { writeBaseBackupState } from '../../host/backup/backup-state.ts';
import {
  type BackupTarget,
  formatBackupTarget,
  parseBackupTarget,
} from '../../host/backup/backup-target.ts';
import { type RecoveredBackup, recoverBackup } from '../../host/backup/recover-backup.ts';
import { readAllTables } from '../../host/backup/recovery-store.ts';
import { RestoreFolder } from '../../host/backup/restore-folder.ts';
import { takeBaseBackup } from '../../host/backup/take-base-backup.ts';
import { findRunningAdmin } from '../../host/embedded-database/find-running-embedded.ts';
import {
  cancelRestoredMessages,
  holdRestoredMessages,
  type RestoredMessages,
} from '../../sending/queue/restored-queue-store.ts';
import { type Config, readConfig } from '../config/config.ts';
import { withRunningInstallation } from './open-running.ts';
import { readReleaseVersion } from './read-version.ts';
import { recordCommand } from './record-command.ts';
import { type CommandShell, printResult, printTable } from './shell.ts';

interface VerifyOptions {
  readonly identity: string;
  readonly to?: string;
  readonly scratch?: string;
}

/**
 * `backup [TARGET]`: backs up the embedded database of the running service.
 * @throws OperatorError if no service is running, the target can't be used, or BACKUP_RECIPIENT is missing
 */
async function createBackup(shell: CommandShell, targetText: string | undefined): Promise<void> {
  const config = readConfig(shell.environment);
  refuseUnsupported(config);
  const target = requireTarget(config, targetText);
  const { recipients, keepDays, s3, to } = config.backup;
  if (recipients.length === 0)
    throw new OperatorError(
      'BACKUP_RECIPIENT is missing, the public key to encrypt for. Create a key pair with: signalpost backup create-key FILE',
    );
  if ((await readSecrets(config)).length === 0)
    throw new OperatorError(
      `There is no master key in ${config.dataDir}. Set SIGNALPOST_KEY as for the service, so that the backup includes it.`,
    );
  // Checks schema and key, so that the backup fits this release.
  await withRunningInstallation(shell, ({ key }) => key());
  const found = await findRunningAdmin(config.dataDir);
  if (found === undefined)
    throw new OperatorError(`No service is running on ${config.dataDir}. Start it first.`);
  const ownTarget = to !== undefined && formatBackupTarget(to) === formatBackupTarget(target);
  const manifest = await takeBaseBackup({
    ...found,
    repository: await openBackupRepository(target, s3),
    recipients,
    keys: config,
    release: await readReleaseVersion(),
    // The operator may want to keep backups in another folder.
    keepDays: ownTarget ? keepDays : undefined,
  });
  const bytes = bytesOf(manifest);
  const { id, finishedAt } = manifest;
  const state = { target: formatBackupTarget(target), id, finishedAt, bytes };
  // The state is that of BACKUP_TO, if it is set.
  if (ownTarget || to === undefined) writeBaseBackupState(found.folder.path, state);
  printResult(
    shell,
    `Backed up to ${state.target} as ${id}, ${formatSize(bytes)} encrypted for ${recipients.join(', ')}.`,
    state,
  );
}

/** `backup list [TARGET]`: lists the complete backups, oldest first. */
async function listBackups(shell: CommandShell, targetText: string | undefined): Promise<void> {
  const config = readConfig(shell.environment);
  const target = requireTarget(config, targetText);
  const manifests = await readBackupManifests(await openBackupRepository(target, config.backup.s3));
  const shown = manifests.map(({ id, finishedAt, release, postgres, parts }) => ({
    id,
    finishedAt,
    bytes: bytesOf({ parts }),
    release,
    postgres,
  }));
  printTable(shell, shown, [
    ['backup', ({ id }) => id],
    ['finished', ({ finishedAt }) => finishedAt],
    ['size', ({ bytes }) => formatSize(bytes)],
    ['release', ({ release }) => release],
    ['postgresql', ({ postgres }) => postgres],
  ]);
}

/**
 * `backup verify [TARGET]`: restores a backup into a temporary folder, reads every row, and removes it.
 * @throws OperatorError if the backup can't be restored
 */
async function verifyBackup(
  shell: CommandShell,
  targetText: string | undefined,
  options: VerifyOptions,
): Promise<void> {
  const config = readConfig(shell.environment);
  refuseUnsupported(config);
  const target = requireTarget(config, targetText);
  const decrypter = await readIdentityFile(options.identity);
  const to = readRestoreTime(options.to);
  const scratch = await mkdtemp(join(await realpath(options.scratch ?? tmpdir()), 'signalpost-'));
  try {
    // PostgreSQL's user must reach its folder inside.
    await chmod(scratch, 0o711);
    const recovered = await recoverBackup({
      repository: await openBackupRepository(target, config.backup.s3),
      decrypter,
      folder: join(scratch, 'data'),
      to,
      log: createLog('warn'),
    });
    const { tables, rows } = await readAllTables(recovered.embedded.admin).finally(() =>
      recovered.embedded.stop(),
    );
    const recoveredTo = recovered.recoveredTo.toISOString();
    printResult(
      shell,
      `The backup ${recovered.manifest.id} can be restored, with all changes until ${recoveredTo}: ${rows.toLocaleString('en')} rows in ${tables} tables, and the key fits.`,
      { backup: recovered.manifest.id, recoveredTo, tables, rows },
    );
    return undefined;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * `backup create-key FILE`: creates a key pair for backups.
 * @throws OperatorError if the file exists, or is on the disk that the backups protect
 */
async function createBackupKey(shell: CommandShell, file: string): Promise<void> {
  const { dataDir } = readConfig({ DATA_DIR: shell.environment.DATA_DIR });
  if (`${dirname(resolve(file))}/`.startsWith(`${dataDir}/`))
    throw new OperatorError(
      'In DATA_DIR, the private key would be lost with DATA_DIR. Choose a file on another disk or machine.',
    );
  const recipient = await createIdentity(file);
  printResult(
    shell,
    `Set BACKUP_RECIPIENT=${recipient}\nMove ${file} to a safe place away from this machine, and keep a second copy. Without it, no backup can be restored.`,
    { recipient, file },
  );
}

/** @throws OperatorError with DATABASE_URL, and on Windows, which lacks the shell that PostgreSQL needs for WAL */
function refuseUnsupported(config: Config): void {
  if (process.platform === 'win32')
    throw new OperatorError(
      'Backups don’t work on Windows. Stop the service and copy DATA_DIR, as in docs/operate/back-up.md.',
    );
  if (config.databaseUrl === undefined) return;
  throw new OperatorError(
    'DATABASE_URL is set, and Signalpost backs up and restores only the embedded database. Use your PostgreSQL’s own tools, as in docs/operate/back-up.md.',
  );
}

/** The target of the command, or BACKUP_TO. @throws OperatorError if there is none */
function requireTarget(config: Config, text: string | undefined): BackupTarget {
  const target = text === undefined ? config.backup.to : parseBackupTarget('The target', text);
  if (target !== undefined) return target;
  throw new OperatorError(
    'Name the folder or bucket of the backup, such as /mnt/backup or s3://bucket/prefix, or set BACKUP_TO.',
  );
}

/** A time of RFC 3339 in the past. @throws OperatorError */
function readRestoreTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = /[Zz]$|[+-]\d{2}:\d{2}$/.test(text) ? parseTimestamp(text) : undefined;
  if (time === undefined)
    throw new OperatorError(
      `--to must be a time with a zone, such as 2026-11-26T04:30:00Z, not "${text}".`,
    );
  if (time.getTime() <= Date.now()) return time;
  throw new OperatorError(`--to is in the future: ${text}. Omit it to restore everything.`);
}

function formatSize(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

type QueueTreatment = 'hold' | 'resend' | 'drop';

interface RestoreOptions {
  readonly identity: string;
  readonly to?: string;
  readonly queue: QueueTreatment;
}

/**
 * `restore [TARGET]`: restores a backup into DATA_DIR, and prints what happens to mail.
 * @throws OperatorError if DATA_DIR isn't empty or the backup can't be restored; a service doesn't start on it then
 */
async function restore(
  shell: CommandShell,
  targetText: string | undefined,
  options: RestoreOptions,
): Promise<void> {
  const config = readConfig(shell.environment);
  refuseUnsupported(config);
  const target = requireTarget(config, targetText);
  const decrypter = await readIdentityFile(options.identity);
  const to = readRestoreTime(options.to);
  const repository = await openBackupRepository(target, config.backup.s3);
  const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel);
  const folder = await RestoreFolder.open(config.dataDir, log);
  try {
    const recovered = await recoverBackup({
      repository,
      decrypter,
      folder: folder.building,
      to,
      log,
    });
    const messages = await treatQueue(recovered, options.queue, formatBackupTarget(target)).finally(
      () => recovered.embedded.stop(),
    );
    await folder.finish();
    const summary = {
      backup: recovered.manifest.id,
      restoredTo: recovered.recoveredTo.toISOString(),
      until: new Date().toISOString(),
      queue: options.queue,
      accounts: messages,
    };
    printResult(shell, describeRestore(summary, config.dataDir), summary);
    return undefined;
  } finally {
    folder.release();
  }
}

async function treatQueue(
  { embedded, manifest, recoveredTo }: RecoveredBackup,
  queue: QueueTreatment,
  target: string,
): Promise<RestoredMessages[]> {
  const database = openDatabase(embedded.settings, { maxConnections: 2 });
  try {
    // A backup of the release before has what waits in tables of that release.
    await removeKeyNodes(database);
    await migrate(database);
    const treat = { hold: holdRestoredMessages, drop: cancelRestoredMessages, resend: undefined };
    const messages = (await treat[queue]?.(database)) ?? [];
    const detail = { target, backup: manifest.id, restoredTo: recoveredTo.toISOString(), queue };
    await recordCommand(database.kysely, { kind: 'database_restored', detail });
    return messages;
  } finally {
    await database.close();
  }
}

interface RestoreSummary {
  readonly backup: string;
  readonly restoredTo: string;
  readonly until: string;
  readonly queue: QueueTreatment;
  readonly accounts: readonly RestoredMessages[];
}

function describeRestore(summary: RestoreSummary, dataDir: string): string {
  const { backup, restoredTo, until, queue, accounts } = summary;
  const count = accounts.reduce((sum, { messages }) => sum + messages, 0);
  const lines = [
    `Restored the backup ${backup} into ${dataDir}, with all changes until ${restoredTo}.`,
    `Messages accepted after ${restoredTo} are gone, at most until ${until}. Ask the programs that send to repeat those.`,
  ];
  const what = `${count} queued ${count === 1 ? 'message' : 'messages'}`;
  if (queue === 'resend')
    lines.push('Queued messages are sent again, also those that were sent after the backup.');
  else if (count === 0) lines.push('No messages were queued that may have been sent since.');
  else if (queue === 'drop') lines.push(`${what} will be canceled.`);
  else {
    lines.push(`${what} may have been sent since and are held for review. To send or cancel them:`);
    for (const { account, messages } of accounts)
      lines.push(
        `  signalpost queue retry ${account}    (or: queue cancel ${account})    ${messages} held`,
      );
  }
  lines.push('Start the service as usual.');
  return lines.join('\n');
}

export const backupCommands = {
  create: createBackup,
  list: listBackups,
  verify: verifyBackup,
  'create-key': createBackupKey,
  restore,
};
