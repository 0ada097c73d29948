import type { CommandShell } from './shell.ts';

/** A command with the arguments and options that were given. @returns the exit code, if it isn't 0 */
export type CommandFunction<Args extends readonly unknown[]> = (
  shell: CommandShell,
  ...args: Args
) => Promise<number> | Promise<void>;

/** Makes the action of a command whose code is loaded on demand. */
export type CommandRunner = ReturnType<typeof commandRunner>;

export function commandRunner(shell: CommandShell) {
  return <Args extends readonly unknown[]>(load: () => Promise<CommandFunction<Args>>) =>
    async (...args: Args): Promise<void> => {
      const command = await load();
      shell.exitCode = (await command(shell, ...args)) ?? 0;
    };
}
