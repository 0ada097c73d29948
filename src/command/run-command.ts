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

interface CommandLine {
  readonly program: Command;
  /** Of the command that ran: 0, or 1 for failed checks. */
  readonly exitCode: () => number;
}

/**
 * Every command with its arguments and options. Each command's file is loaded when it is asked for, so that a start does
 * not pay for the others.
 */
export async function createProgram(environment: Environment): Promise<CommandLine> {
  let exitCode = 0;
  const program = new Command('signalpost')
    .description('Sends one email to one person because something happened.')
    .version(await readReleaseVersion())
    .exitOverride()
    .showHelpAfterError()
    .addHelpText(
      'after',
      '\nSettings come from the environment; docs/reference/settings.md lists them.',
    );
  program
    .command('start')
    .description(
      'the whole service in one process, with its own database unless DATABASE_URL is set',
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
      'what this node does: http, worker, or both separated by a comma',
      'http,worker',
    )
    .option('--processes <count>', 'processes that share the port and the work', readCount)
    .addHelpText('after', '\nWithout --processes, one for each core.')
    .action(async (options: { role: string; processes?: number }) => {
      const { serve } = await import('./serve.ts');
      exitCode = await serve(environment, options.role, options.processes);
    });
  program
    .command('migrate')
    .description('brings the database to this release; every start does so too')
    .option('--plan', 'says what would be done and what to change by hand, and changes nothing')
    .action(async (options: { plan?: boolean }) => {
      const { migrateCommand } = await import('./migrate.ts');
      exitCode = await migrateCommand(environment, options.plan);
    });
  const queue = program
    .command('queue')
    .description('lists, pauses, resumes, cancels and retries messages that wait');
  queue
    .command('list')
    .description('what waits, by destination: how many, until when, and why')
    .requiredOption('--account <id>', 'whose messages')
    .option('--message <id>', 'one of them')
    .action(async (options: { readonly account: string; readonly message?: string }) => {
      const { listQueue } = await import('./queue-list.ts');
      exitCode = await listQueue(options, environment);
    });
  for (const [action, description] of Object.entries(queueActions)) {
    queue
      .command(action)
      .description(description)
      .requiredOption('--account <id>', 'whose messages')
      .option('--message <id>', 'one of them')
      .option('--destination <domain>', 'those to this domain')
      .action(async (options: QueueCommandOptions) => {
        const { queueCommand } = await import('./queue.ts');
        exitCode = await queueCommand(action as QueueAction, options, environment);
      });
  }
  program
    .command('report')
    .description('counts what became of messages again')
    .command('reclassify')
    .description(
      'judges opens and clicks anew, by the programs and networks that this release knows, and counts the report again',
    )
    .requiredOption('--account <id>', 'whose messages')
    .requiredOption('--from <day>', 'since this day in UTC, such as 2026-11-22')
    .action(async (options: { readonly account: string; readonly from: string }) => {
      const { reclassifyReport } = await import('./report.ts');
      exitCode = await reclassifyReport(options, environment);
    });
  program
    .command('apply')
    .description('creates and changes what a manifest names, as often as you like')
    .argument('<file>', 'the manifest, YAML or JSON; - for standard input')
    .option('--prune', 'also removes what it does not name, in the accounts that it names')
    .option('--dry-run', 'says what would be done and changes nothing')
    .addHelpText(
      'after',
      '\nStrings may hold references to the environment, so that secrets stay out of the file.',
    )
    .action(async (file: string, options: ApplyOptions) => {
      const { applyCommand } = await import('./apply.ts');
      exitCode = await applyCommand(file, options, environment);
    });
  program
    .command('export')
    .description('writes the manifest that sets an installation up as this one is')
    .argument('[folder]', 'where to, with the contacts of lists; default: standard output, without')
    .action(async (folder: string | undefined) => {
      const { exportCommand } = await import('./export.ts');
      exitCode = await exportCommand(folder, environment);
    });
  program
    .command('doctor')
    .description('checks database, key, mail connection, clock and disk, and says what to do')
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
  return { program, exitCode: () => exitCode };
}

/**
 * Runs one command of the command line.
 * @param args what stands behind the program's name
 * @returns the exit code: 0, or 1 for wrong usage and failed checks
 * @throws OperatorError for what the operator can mend
 */
export async function runCommand(
  args: readonly string[],
  environment: Environment,
): Promise<number> {
  const { program, exitCode } = await createProgram(environment);
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    throw error;
  }
  return exitCode();
}
