import { type Command, InvalidArgumentError } from 'commander';
import { maxDemoMessages } from '../demo-data/demo-limits.ts';
import type { CommandShell } from './shell.ts';

const defaultMessages = 12_000;

function readMessages(text: string): number {
  const count = Number(text);
  if (/^\d{1,6}$/.test(text) && count >= 1 && count <= maxDemoMessages) return count;
  throw new InvalidArgumentError(`It must be a number from 1 to ${maxDemoMessages}.`);
}

/** Adds `demo fill` and `demo clear`: an account with a month of messages that look real. */
export function addDemoCommands(program: Command, shell: CommandShell): void {
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
