import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type { ApplyOptions } from '../manifest/manifest-change.ts';
import { addDirectCommands } from './direct-commands.ts';
import { addKeyCommands } from './key.ts';
import { addLinkCommands } from './link-commands.ts';
import { type QueueAction, type QueueCommandOptions, queueActions } from './queue-actions.ts';
import { readReleaseVersion } from './read-version.ts';
import { addSessionCommands } from './session-commands.ts';

type Environment = Readonly<Record<string, string | undefined>>;

function readCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,3}$/.test(text) || count < 1)
    throw new InvalidArgumentError('It must be a number from 1 to 999.');
  return count;
}

/**
 * Runs one command of the command line. Each command's file is loaded on demand, so that `start` doesn't load the
 * others.
 * @param args the arguments after the program name
 * @returns the exit code: 0, or 1 for wrong usage and failed checks
 * @throws OperatorError for problems that the operator can fix
 */
export async function runCommand(
  args: readonly string[],
  environment: Environment,
): Promise<number> {
  let exitCode = 0;
  const program = new Command('signalpost')
    .description('Sends one email to one person because something happened.')
    .version(await readReleaseVersion())
    .exitOverride()
    .showHelpAfterError()
    .addHelpText('after', '\nSettings come from environment variables; see the README.');
  program
    .command('start')
    .description(
      'the whole service in one process, with an embedded database unless DATABASE_URL is set',
    )
    .action(async () => {
      const { start } = await import('./start.ts');
      exitCode = await start(environment);
    });
  program
    .command('serve')
    .description('one node of several on your own database (DATABASE_URL)')
    .option(
      '--role <roles>',
      'roles of this node: http, worker, or both separated by a comma',
      'http,worker',
    )
    .option('--processes <count>', 'processes that share the port and the work', readCount)
    .addHelpText('after', '\nDefault for --processes: one per core.')
    .action(async (options: { role: string; processes?: number }) => {
      const { serve } = await import('./serve.ts');
      exitCode = await serve(environment, options.role, options.processes);
    });
  program
    .command('migrate')
    .description('migrates the database to this release; every start does this too')
    .option('--plan', 'shows pending migrations and manual changes without changing anything')
    .action(async (options: { plan?: boolean }) => {
      const { migrateCommand } = await import('./migrate.ts');
      exitCode = await migrateCommand(environment, options.plan);
    });
  const queue = program
    .command('queue')
    .description('lists, pauses, resumes, cancels and retries queued messages');
  queue
    .command('list')
    .description('waiting messages by destination: how many, until when, and why')
    .requiredOption('--account <id>', 'the account of the messages')
    .option('--message <id>', 'one message')
    .action(async (options: { readonly account: string; readonly message?: string }) => {
      const { listQueue } = await import('./queue-list.ts');
      exitCode = await listQueue(options, environment);
    });
  for (const [action, description] of Object.entries(queueActions)) {
    queue
      .command(action)
      .description(description)
      .requiredOption('--account <id>', 'the account of the messages')
      .option('--message <id>', 'one message')
      .option('--destination <domain>', 'messages to this domain')
      .action(async (options: QueueCommandOptions) => {
        const { queueCommand } = await import('./queue.ts');
        exitCode = await queueCommand(action as QueueAction, options, environment);
      });
  }
  program
    .command('report')
    .description('recalculates statistics')
    .command('reclassify')
    .description(
      'reclassifies opens and clicks with the programs and networks that this release knows, and recalculates the report',
    )
    .requiredOption('--account <id>', 'the account of the messages')
    .requiredOption('--from <day>', 'first day in UTC, such as 2026-11-22')
    .action(async (options: { readonly account: string; readonly from: string }) => {
      const { reclassifyReport } = await import('./report.ts');
      exitCode = await reclassifyReport(options, environment);
    });
  program
    .command('apply')
    .description('creates and updates what a manifest describes; safe to repeat')
    .argument('<file>', 'the manifest, YAML or JSON; - for standard input')
    .option('--prune', 'also deletes what the manifest doesn’t contain, in its accounts')
    .option('--dry-run', 'shows the changes without making them')
    .addHelpText(
      'after',
      '\nStrings may contain references to environment variables, so that secrets stay out of the file.',
    )
    .action(async (file: string, options: ApplyOptions) => {
      const { applyCommand } = await import('./apply.ts');
      exitCode = await applyCommand(file, options, environment);
    });
  program
    .command('export')
    .description('writes the manifest of this installation')
    .argument(
      '[folder]',
      'target, including the contacts of lists; default: standard output, without contacts',
    )
    .action(async (folder: string | undefined) => {
      const { exportCommand } = await import('./export.ts');
      exitCode = await exportCommand(folder, environment);
    });
  program
    .command('doctor')
    .description('checks database, key, mail connection, clock and disk, and says what to fix')
    .action(async () => {
      const { doctor } = await import('./doctor.ts');
      exitCode = await doctor(environment);
    });
  addDirectCommands(program, environment, (code) => {
    exitCode = code;
  });
  addLinkCommands(program, environment, (code) => {
    exitCode = code;
  });
  addSessionCommands(program, environment, (code) => {
    exitCode = code;
  });
  addKeyCommands(program, environment, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    throw error;
  }
  return exitCode;
}
