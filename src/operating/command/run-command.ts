import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { nodeRoles } from '../../base/threads/node-role.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { TypesFailure } from '../../content/template-types/management-connection.ts';
import { maxDemoMessages } from '../demo-data/demo-limits.ts';
import { addBackupCommands } from './backup-commands.ts';
import { type CommandRunner, commandRunner } from './command-runner.ts';
import { addDirectCommands } from './direct-commands.ts';
import { addKeyCommands } from './key.ts';
import { addLinkCommands } from './link-commands.ts';
import { type QueueAction, queueActions } from './queue-actions.ts';
import { readReleaseVersion } from './read-version.ts';
import { addSessionCommands } from './session-commands.ts';
import type { CommandShell, Terminal } from './shell.ts';
import { addTemplateCommands } from './template-commands.ts';

function readCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,3}$/.test(text) || count < 1)
    throw new InvalidArgumentError('It must be a number from 1 to 999.');
  return count;
}

/** How an account or message was named before it became an argument. */
function formerOption(flags: string): Option {
  return new Option(flags).hideHelp();
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
  const run = commandRunner(shell);
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
    .action(run(async () => (await import('./start.ts')).start));
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
    .action(run(async () => (await import('./serve.ts')).serve));
  program
    .command('migrate')
    .description('migrate the database to this release; every start does this too')
    .option('--plan', 'list migrations and required manual changes without applying anything')
    .action(run(async () => (await import('./migrate.ts')).migrateCommand));
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
    .action(run(async () => (await import('./queue.ts')).listQueue));
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
      .action(
        run(async () =>
          (await import('./queue.ts')).queueCommand.bind(null, action as QueueAction),
        ),
      );
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
    .action(run(async () => (await import('./report.ts')).reclassifyReport));
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
    .action(run(async () => (await import('./apply.ts')).applyCommand));
  program
    .command('export')
    .description('write a manifest that recreates this installation')
    .argument(
      '[folder]',
      'target folder, also for contact lists; default: standard output, without contacts',
    )
    .action(run(async () => (await import('./export.ts')).exportCommand));
  program
    .command('doctor')
    .description('check the database, key, mail connection, clock and disk, and suggest fixes')
    .option('--production', 'also check what production needs')
    .action(run(async () => (await import('./doctor.ts')).doctor));
  addBackupCommands(program, run);
  program
    .command('move')
    .description('move the stopped installation to another PostgreSQL')
    .option('--to <url>', 'the other database: postgres://user:password@host:5432/name')
    .option('--cancel', 'stay with this database, or go back to it')
    .option('--yes', 'with --cancel: go back although the installation runs on the other database')
    .addHelpText('after', '\nAfter an interruption, run it again; it continues.')
    .action(run(async () => (await import('./move.ts')).moveCommand));
  addDemoCommands(program, run);
  addDirectCommands(program, run);
  addLinkCommands(program, run);
  addSessionCommands(program, run);
  addKeyCommands(program, run);
  addTemplateCommands(program, run);
  program
    .command('send-test')
    .description('send a template with its sample values through the running service, and wait')
    .argument('<account>')
    .argument('<template>')
    .argument('<to>', 'the recipient’s address')
    .option('--url <url>', 'the service; default: the one that runs on this machine')
    .option('--wait <seconds>', 'how long to wait for the outcome, 0 to 600', '60')
    .action(run(async () => (await import('./send-test.ts')).sendTest));
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText('after', '\nFor example, in ~/.bashrc: source <(signalpost completion bash)')
    .action(run(async () => (await import('./completion.ts')).printCompletion.bind(null, program)));
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
    if (error instanceof OperatorError) shell.err(`signalpost: ${error.message}\n`);
    else if (error instanceof TypesFailure) shell.err(`signalpost: ${error.message}.\n`);
    else throw error;
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
function addDemoCommands(program: Command, run: CommandRunner): void {
  const demo = program.command('demo').description('fill a demo account with generated messages');
  demo
    .command('fill')
    .description('add the account demo with 30 days of messages; nothing is sent')
    .option('--messages <number>', 'number of messages', readMessages, defaultMessages)
    .action(run(async () => (await import('./demo.ts')).fillDemoCommand));
  demo
    .command('clear')
    .description('remove the account demo and everything in it')
    .action(run(async () => (await import('./demo.ts')).clearDemoCommand));
}
