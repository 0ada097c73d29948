import { type Command, Option } from 'commander';
import type { CommandRunner } from './command-runner.ts';

const targetHelp = 'a folder or s3://bucket/prefix; by default BACKUP_TO';
const identityHelp = 'file with the private key, from `backup create-key`';
const toHelp = 'restore to this time, such as 2026-11-26T04:30:00Z, instead of the latest';

/** Adds `backup …` and `restore`: backups of the embedded database. */
export function addBackupCommands(program: Command, run: CommandRunner): void {
  const backup = program
    .command('backup')
    .description('back up the embedded database and the key, encrypted, while the service runs');
  backup
    .command('create', { isDefault: true })
    .description('back up now; the command name may be omitted: backup /mnt/backup')
    .argument('[target]', targetHelp)
    .action(run(async () => (await import('./backup.ts')).createBackup));
  backup
    .command('list')
    .description('list the complete backups')
    .argument('[target]', targetHelp)
    .action(run(async () => (await import('./backup.ts')).listBackups));
  backup
    .command('verify')
    .description('restore the latest backup into a temporary folder and read everything in it')
    .argument('[target]', targetHelp)
    .requiredOption('--identity <file>', identityHelp)
    .option('--to <time>', toHelp)
    .option('--scratch <folder>', 'where to create the temporary folder; by default TMPDIR')
    .action(run(async () => (await import('./backup.ts')).verifyBackup));
  backup
    .command('create-key')
    .description('create a key pair for backups; keep the file away from this machine')
    .argument('<file>', 'new file for the private key')
    .action(run(async () => (await import('./backup.ts')).createBackupKey));
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
    .action(run(async () => (await import('./backup.ts')).restore));
}
