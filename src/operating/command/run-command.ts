import { Command, CommanderError } from 'commander';
import { OperatorError } from '../../base/values/errors.ts';
import { TypesFailure } from '../../content/template-types/management-connection.ts';
import { addCommands } from './command-table.ts';
import { readReleaseVersion } from './read-version.ts';
import type { CommandShell, Terminal } from './shell.ts';

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
  addCommands(program, shell);
  for (const command of leavesOf(program))
    if (!withoutResult.has(command.name()))
      command.option('--json', 'print JSON, one object per line');
  return program;
}

/**
 * Runs one command of the command line.
 * @param args the arguments after the program name; without any, `start`
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
    await program.parseAsync(args.length === 0 ? ['start'] : [...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    if (error instanceof OperatorError) shell.err(`signalpost: ${error.message}\n`);
    else if (error instanceof TypesFailure) shell.err(`signalpost: ${error.message}.\n`);
    else throw error;
    return 1;
  }
  return shell.exitCode;
}
