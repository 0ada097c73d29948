import { type ApiKey, readApiKeys } from '../../access/api-key-store.ts';
import { type CommandShell, type JsonOption, printTable } from '../shell.ts';
import { withAccount } from './with-account.ts';

/** `key list ACCOUNT`: the API keys of an account, newest first. */
export function listKeys(
  accountText: string,
  options: JsonOption,
  shell: CommandShell,
): Promise<number> {
  return withAccount(accountText, shell, async ({ database }, accountId) => {
    printTable<ApiKey>(shell, options, await readApiKeys(database.kysely, accountId), [
      ['id', ({ id }) => id],
      ['key', ({ hint }) => (hint === null ? undefined : `sp_${accountId}_…${hint}`)],
      ['name', ({ name }) => name],
      ['scopes', ({ scopes }) => scopes.join(' ')],
      [
        'limits',
        ({ networks, templates }) => [...(networks ?? []), ...(templates ?? [])].join(' '),
      ],
      ['created by', ({ createdBy }) => createdBy ?? 'command line'],
      ['expires', ({ expiresAt }) => expiresAt?.toISOString() ?? 'never'],
      ['last used', ({ lastUsedAt }) => lastUsedAt?.toISOString() ?? 'never'],
    ]);
    return 0;
  });
}
