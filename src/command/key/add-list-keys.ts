import type { Command } from 'commander';

/** `key list ACCOUNT`. */
export function addListKeys(
  key: Command,
  environment: Readonly<Record<string, string | undefined>>,
  done: (exitCode: number) => void,
): void {
  key
    .command('list')
    .description('lists the API keys of an account, newest first, without their secrets')
    .argument('<account>')
    .option('--json', 'as JSON, one key per line')
    .action(async (account: string, options: { readonly json?: boolean }) => {
      const { listKeys } = await import('./list-keys.ts');
      done(await listKeys(account, options, environment));
    });
}
