import { removeApiKey } from '../../access/api-key-store.ts';
import { runChange } from '../../change/change-resource.ts';
import { OperatorError } from '../../foundation/errors.ts';
import { recordCommand } from '../record-command.ts';
import { type CommandShell, type JsonOption, printResult } from '../shell.ts';
import { readKeyId, withAccount } from './with-account.ts';

/** `key revoke ACCOUNT ID`: revokes an API key. @throws OperatorError if the account has no such key */
export async function revokeKey(
  accountText: string,
  idText: string,
  options: JsonOption,
  shell: CommandShell,
): Promise<number> {
  const id = readKeyId(idText);
  return withAccount(accountText, shell, async ({ database }, accountId) => {
    await runChange({ database }, accountId, async (transaction) => {
      if (!(await removeApiKey(transaction, accountId, id)))
        throw new OperatorError(
          `The account ${accountId} has no API key ${id}. Run key list to see its keys.`,
        );
      await recordCommand(transaction, { kind: 'api_key_removed', accountId, detail: { id } });
    });
    printResult(shell, options, `Revoked ${id}, on every node within a second.`, {
      id,
      revoked: true,
    });
    return 0;
  });
}
