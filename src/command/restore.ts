import { readIdentityFile } from '../backup/backup-encryption.ts';
import { formatBackupTarget } from '../backup/backup-target.ts';
import { openBackupRepository } from '../backup/open-repository.ts';
import { type RecoveredBackup, recoverBackup } from '../backup/recover-backup.ts';
import { RestoreFolder } from '../backup/restore-folder.ts';
import { readConfig } from '../config/config.ts';
import { openDatabase } from '../foundation/database/open-database.ts';
import { createLog } from '../foundation/log.ts';
import {
  cancelRestoredMessages,
  holdRestoredMessages,
  type RestoredMessages,
} from '../queue/restored-queue-store.ts';
import { readRestoreTime, refuseUnsupported, requireTarget } from './backup.ts';
import { recordCommand } from './record-command.ts';
import { type CommandShell, type JsonOption, printResult } from './shell.ts';

type QueueTreatment = 'hold' | 'resend' | 'drop';

export interface RestoreOptions extends JsonOption {
  readonly identity: string;
  readonly to?: string;
  readonly queue: QueueTreatment;
}

/**
 * `restore [TARGET]`: restores a backup into DATA_DIR, and prints what happens to mail.
 * @returns the exit code: 0
 * @throws OperatorError if DATA_DIR isn't empty or the backup can't be restored; a service doesn't start on it then
 */
export async function restore(
  targetText: string | undefined,
  options: RestoreOptions,
  shell: CommandShell,
): Promise<number> {
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
    printResult(shell, options, describeRestore(summary, config.dataDir), summary);
    return 0;
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
