import type { Command } from 'commander';
import type { JsonOption } from '../print.ts';

/** `key revoke ACCOUNT ID`. */
export function addRevokeKey(
  key: Command,
  environment: Readonly<Record<string, string | undefined>>,
  done: (exitCode: number) => void,
): void {
  key
    .command('revoke')
    .description('revoke an API key, on every node within a second')
    .argument('<account>')
    .argument('<id>', 'ID shown by `key list`')
    .action(async (account: string, id: string, options: JsonOption) => {
      const { revokeKey } = await import('./revoke-key.ts');
      done(await revokeKey(account, id, options, environment));
    });
}
