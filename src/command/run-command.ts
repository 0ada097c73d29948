import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { maxDemoMessages } from '../demo-data/demo-limits.ts';
import { OperatorError } from '../foundation/errors.ts';
import { nodeRoles } from '../foundation/processes/node-role.ts';
import type { ApplyOptions } from '../manifest/manifest-change.ts';
import { addBackupCommands } from './backup-commands.ts';
import { addDirectCommands } from './direct-commands.ts';
import type { DoctorOptions } from './doctor.ts';
import { addKeyCommands } from './key.ts';
import { addLinkCommands } from './link-commands.ts';
import type { MigrateOptions } from './migrate.ts';
import type { MoveOptions } from './move.ts';
import { type QueueAction, type QueueCommandOptions, queueActions } from './queue-actions.ts';
import { readReleaseVersion } from './read-version.ts';
import type { ReclassifyOptions } from './report.ts';
import type { SendTestOptions } from './send-test.ts';
import { addSessionCommands } from './session-commands.ts';
import type { CommandShell, Terminal } from './shell.ts';
import { addTemplateCommands } from './template-commands.ts';

function readCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,3}$/.test(text) || count < 1)
    throw new InvalidArgumentError('It must be a number from 1 to 999.');
  return count;
}

type Named = string | undefined;

/** How an account or message was named before it became an argument. */
function formerOption(flags: string): Option {
  return new Option(flags).hideHelp();
}

function withNamed(
  options: QueueCommandOptions,
  account: Named,
  message: Named,
): QueueCommandOptions {
  return {
    ...options,
    ...(account !== undefined && { account }),
    ...(message !== undefined && { message }),
  };
}

/** Commands that run until they are stopped, or print a document of their own. */
const withoutResult: ReadonlySet<string> = new Set([
  'start',
  'serve',
  'mcp',
  'export',
  'types',
  'completion',
]);

/** The commands without subcommands. */
export function leavesOf(command: Command): Command[] {
  return command.commands.flatMap((part) => (part.commands.length === 0 ? [part] : leavesOf(part)));
}

/**
 * All commands with their arguments and options. A command's code is loaded on demand, so that starting one doesn't
 * load the others.
 */
export async function createProgram(shell: CommandShell): Promise<Command> {
  const program = new Command('signalpost')
    .description('Sends one email to one person because something happened.')
    .version(await readReleaseVersion())
    .exitOverride()
    .configureOutput({ writeOut: (text) => shell.out(text), writeErr: (text) => shell.err(text) })
    .showHelpAfterError()
    .addHelpText(
      'after',
      '\nSettings are environment variables. For a list, see docs/reference/settings.md.',
    );
  program
    .command('start')
    .description(
      'run the whole service in one process, with an embedded database unless DATABASE_URL is set',
    )
    .action(async () => {
      const { start } = await import('./start.ts');
      shell.exitCode = await start(shell);
    });
  program
    .command('serve')
    .description('run one of several nodes on your own database (DATABASE_URL)')
    .option('--role <roles>', 'roles of this node, separated by a comma', nodeRoles.join(','))
    .option(
      '--processes <count>',
      'number of processes that share the port and the work',
      readCount,
    )
    .addHelpText('after', '\nWithout --processes, one process per core.')
    .action(async (options: { role: string; processes?: number }) => {
      const { serve } = await import('./serve.ts');
      shell.exitCode = await serve(shell, options.role, options.processes);
    });
  program
    .command('migrate')
    .description('migrate the database to this release; every start does this too')
    .option('--plan', 'list migrations and required manual changes without applying anything')
    .action(async (options: MigrateOptions) => {
      const { migrateCommand } = await import('./migrate.ts');
      shell.exitCode = await migrateCommand(shell, options);
    });
  const queue = program
    .command('queue')
    .description('list, pause, resume, cancel and retry queued messages');
  queue
    .command('list')
    .description('list queued messages by destination, with next attempt and reason')
    .usage('<account> [message] [options]')
    .argument('[account]', 'the account')
    .argument('[message]', 'only this message')
    .addOption(formerOption('--account <id>'))
    .addOption(formerOption('--message <id>'))
    .action(async (account: Named, message: Named, options: QueueCommandOptions) => {
      const { listQueue } = await import('./queue.ts');
      shell.exitCode = await listQueue(withNamed(options, account, message), shell);
    });
  for (const [action, description] of Object.entries(queueActions)) {
    queue
      .command(action)
      .description(description)
      .usage('<account> [message] [options]')
      .argument('[account]', 'the account')
      .argument('[message]', 'only this message')
      .addOption(formerOption('--account <id>'))
      .addOption(formerOption('--message <id>'))
      .option('--destination <domain>', 'only messages to this domain')
      .action(async (account: Named, message: Named, options: QueueCommandOptions) => {
        const { queueCommand } = await import('./queue.ts');
        const named = withNamed(options, account, message);
        shell.exitCode = await queueCommand(action as QueueAction, named, shell);
      });
  }
  program
    .command('report')
    .description('rebuild reports')
    .command('reclassify')
    .description(
      'reclassify past opens and clicks with the programs and networks that this release knows',
    )
    .usage('<account> [options]')
    .argument('[account]', 'the account')
    .addOption(formerOption('--account <id>'))
    .requiredOption('--from <day>', 'first day (UTC), such as 2026-11-22')
    .action(async (account: Named, options: ReclassifyOptions) => {
      const { reclassifyReport } = await import('./report.ts');
      shell.exitCode = await reclassifyReport(account, options, shell);
    });
  program
    .command('apply')
    .description('create and update the resources in a manifest; safe to repeat')
    .argument('<file>', 'manifest in YAML or JSON; - for standard input')
    .option('--prune', 'also remove resources that aren’t in the manifest, within its accounts')
    .option('--dry-run', 'show the changes without applying them')
    .addHelpText(
      'after',
      '\nStrings can refer to environment variables, so that secrets stay out of the file.',
    )
    .action(async (file: string, options: ApplyOptions) => {
      const { applyCommand } = await import('./apply.ts');
      shell.exitCode = await applyCommand(file, options, shell);
    });
  program
    .command('export')
    .description('write a manifest that recreates this installation')
    .argument(
      '[folder]',
      'target folder, also for contact lists; default: standard output, without contacts',
    )
    .action(async (folder: string | undefined) => {
      const { exportCommand } = await import('./export.ts');
      shell.exitCode = await exportCommand(folder, shell);
    });
  program
    .command('doctor')
    .description('check the database, key, mail connection, clock and disk, and suggest fixes')
    .option('--production', 'also check what production needs')
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./doctor.ts');
      shell.exitCode = await doctor(options, shell);
    });
  addBackupCommands(program, shell);
  program
    .command('move')
    .description('move the stopped installation to another PostgreSQL')
    .option('--to <url>', 'the other database: postgres://user:password@host:5432/name')
    .option('--cancel', 'stay with this database, or go back to it')
    .option('--yes', 'with --cancel: go back although the installation runs on the other database')
    .addHelpText('after', '\nAfter an interruption, run it again; it continues.')
    .action(async (options: MoveOptions) => {
      const { moveCommand } = await import('./move.ts');
      shell.exitCode = await moveCommand(options, shell);
    });
  addDemoCommands(program, shell);
  addDirectCommands(program, shell);
  addLinkCommands(program, shell);
  addSessionCommands(program, shell);
  addKeyCommands(program, shell);
  addTemplateCommands(program, shell);
  program
    .command('send-test')
    .description('send a template with its sample values through the running service, and wait')
    .argument('<account>')
    .argument('<template>')
    .argument('<to>', 'the recipient’s address')
    .option('--url <url>', 'the service; default: the one that runs on this machine')
    .option('--wait <seconds>', 'how long to wait for the outcome, 0 to 600', '60')
    .action(async (account: string, template: string, to: string, options: SendTestOptions) => {
      const { sendTest } = await import('./send-test.ts');
      shell.exitCode = await sendTest({ account, template, to }, options, shell);
    });
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText('after', '\nFor example, in ~/.bashrc: source <(signalpost completion bash)')
    .action(async (name: string) => {
      const { printCompletion } = await import('./completion.ts');
      shell.exitCode = printCompletion(shell, name, program);
    });
  for (const command of leavesOf(program))
    if (!withoutResult.has(command.name()))
      command.option('--json', 'print JSON, one object per line');
  return program;
}

/**
 * Runs one command of the command line.
 * @param args the arguments after the program name
 * @param environment the settings
 * @returns the exit code: 0, or 1 for wrong usage, failed checks and problems that the operator can fix, which are printed
 */
export async function runCommand(
  args: readonly string[],
  environment: CommandShell['environment'],
  terminal: Terminal,
): Promise<number> {
  const shell: CommandShell = { ...terminal, environment, exitCode: 0 };
  const program = await createProgram(shell);
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    if (!(error instanceof OperatorError)) throw error;
    shell.err(`signalpost: ${error.message}\n`);
    return 1;
  }
  return shell.exitCode;
}

const defaultMessages = 12_000;

function readMessages(text: string): number {
  const count = Number(text);
  if (/^\d{1,6}$/.test(text) && count >= 1 && count <= maxDemoMessages) return count;
  throw new InvalidArgumentError(`It must be a number from 1 to ${maxDemoMessages}.`);
}

/** Adds `demo fill` and `demo clear`: an account with a month of messages that look real. */
function addDemoCommands(program: Command, shell: CommandShell): void {
  const demo = program.command('demo').description('fill a demo account with generated messages');
  demo
    .command('fill')
    .description('add the account demo with 30 days of messages; nothing is sent')
    .option('--messages <number>', 'number of messages', readMessages, defaultMessages)
    .action(async (options: { readonly messages: number }) => {
      const { fillDemoCommand } = await import('./demo.ts');
      shell.exitCode = await fillDemoCommand(options.messages, shell);
    });
  demo
    .command('clear')
    .description('remove the account demo and everything in it')
    .action(async () => {
      const { clearDemoCommand } = await import('./demo.ts');
      shell.exitCode = await clearDemoCommand(shell);
    });
}
