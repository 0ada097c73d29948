import type { Command } from 'commander';

/** `key revoke ACCOUNT ID`. */
export function addRevokeKey(
  key: Command,
  environment: Readonly<Record<string, string | undefined>>,
  done: (exitCode: number) => void,
): void {
  key
    .command('revoke')
    .description('revokes an API key on every node within a second')
    .argument('<account>')
    .argument('<id>', 'as shown by `key list`')
    .action(async (account: string, id: string) => {
      const { revokeKey } = await import('./revoke-key.ts');
      done(await revokeKey(account, id, environment));
    });
}
