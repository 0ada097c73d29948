import type { Command, CommandOptions } from 'commander';
import type { CommandShell } from './shell.ts';

/** What commander gives a command: its arguments, then its options. */
type CommandArguments = Parameters<Parameters<Command['action']>[0]>;

/** A command. @returns the exit code, if it isn't 0 */
export type CommandFunction = (shell: CommandShell, ...args: CommandArguments) => Promise<unknown>;

/** Loads commands by their names. */
type LoadCommands<Name extends string> = () => Promise<Readonly<Record<Name, CommandFunction>>>;

/** Makes the action of a command whose code is loaded on demand, so that starting one doesn't load the others. */
export function commandRunner(shell: CommandShell) {
  return (load: () => Promise<CommandFunction>) =>
    async (...args: CommandArguments): Promise<void> => {
      const command = await load();
      shell.json = args.at(-2)?.json === true;
      const code = await command(shell, ...args);
      shell.exitCode = typeof code === 'number' ? code : 0;
    };
}

/** Makes a function that adds commands of a file to a parent by their names. */
export function commandsOf<Name extends string>(
  parent: Command,
  shell: CommandShell,
  load: LoadCommands<Name>,
) {
  const run = commandRunner(shell);
  return (
    usage: Name | `${Name} ${string}`,
    description: string,
    options?: CommandOptions,
  ): Command => {
    const command = parent.command(usage, options).description(description);
    const find = async (): Promise<CommandFunction> => {
      const commands = new Map(Object.entries<CommandFunction>(await load()));
      const found = commands.get(command.name());
      if (found === undefined) throw new Error(`no code for ${command.name()}`);
      return found;
    };
    return command.action(run(find));
  };
}

/** Makes a function that adds commands with subcommands. */
export function groupsOf(program: Command, shell: CommandShell) {
  return <Name extends string>(name: string, description: string, load: LoadCommands<Name>) =>
    commandsOf(program.command(name).description(description), shell, load);
}
