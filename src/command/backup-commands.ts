import { type Command, Option } from 'commander';
import type { RestoreOptions, VerifyOptions } from './backup.ts';
import type { CommandShell, JsonOption } from './shell.ts';

const targetHelp = 'a folder or s3://bucket/prefix; by default BACKUP_TO';
const identityHelp = 'file with the private key, from `backup create-key`';
const toHelp = 'restore to this time, such as 2026-11-26T04:30:00Z, instead of the latest';

/** Adds `backup …` and `restore`: backups of the embedded database. */
export function addBackupCommands(program: Command, shell: CommandShell): void {
  const backup = program
    .command('backup')
    .description('back up the embedded database and the key, encrypted, while the service runs');
  backup
    .command('create', { isDefault: true })
    .description('back up now; the command name may be omitted: backup /mnt/backup')
    .argument('[target]', targetHelp)
    .action(async (target: string | undefined, options: JsonOption) => {
      const { createBackup } = await import('./backup.ts');
      shell.exitCode = await createBackup(target, options, shell);
    });
  backup
    .command('list')
    .description('list the complete backups')
    .argument('[target]', targetHelp)
    .action(async (target: string | undefined, options: JsonOption) => {
      const { listBackups } = await import('./backup.ts');
      shell.exitCode = await listBackups(target, options, shell);
    });
  backup
    .command('verify')
    .description('restore the latest backup into a temporary folder and read everything in it')
    .argument('[target]', targetHelp)
    .requiredOption('--identity <file>', identityHelp)
    .option('--to <time>', toHelp)
    .option('--scratch <folder>', 'where to create the temporary folder; by default TMPDIR')
    .action(async (target: string | undefined, options: VerifyOptions) => {
      const { verifyBackup } = await import('./backup.ts');
      shell.exitCode = await verifyBackup(target, options, shell);
    });
  backup
    .command('create-key')
    .description('create a key pair for backups; keep the file away from this machine')
    .argument('<file>', 'new file for the private key')
    .action(async (file: string, options: JsonOption) => {
      const { createBackupKey } = await import('./backup.ts');
      shell.exitCode = await createBackupKey(file, options, shell);
    });
  program
    .command('restore')
    .description('restore a backup into DATA_DIR, which must be empty')
    .argument('[target]', targetHelp)
    .requiredOption('--identity <file>', identityHelp)
    .option('--to <time>', toHelp)
    .addOption(
      new Option(
        '--queue <action>',
        'messages that were queued then and may have been sent since: hold them for review, send them again, or cancel them',
      )
        .choices(['hold', 'resend', 'drop'])
        .default('hold'),
    )
    .action(async (target: string | undefined, options: RestoreOptions) => {
      const { restore } = await import('./backup.ts');
      shell.exitCode = await restore(target, options, shell);
    });
}
