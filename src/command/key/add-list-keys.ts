import type { Command } from 'commander';
import type { JsonOption } from '../print.ts';

/** `key list ACCOUNT`. */
export function addListKeys(
  key: Command,
  environment: Readonly<Record<string, string | undefined>>,
  done: (exitCode: number) => void,
): void {
  key
    .command('list')
    .description('list the API keys of an account, newest first, without their secrets')
    .argument('<account>')
    .action(async (account: string, options: JsonOption) => {
      const { listKeys } = await import('./list-keys.ts');
      done(await listKeys(account, options, environment));
    });
}
