import { removeApiKey } from '../../access/api-key-store.ts';
import { runChange } from '../../change/change-resource.ts';
import { OperatorError } from '../../foundation/errors.ts';
import { recordCommand } from '../record-command.ts';
import { readKeyId, withAccount } from './with-account.ts';

/** `key revoke ACCOUNT ID`: revokes an API key. @throws OperatorError if the account has no such key */
export async function revokeKey(
  accountText: string,
  idText: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const id = readKeyId(idText);
  return withAccount(accountText, environment, async ({ database }, accountId) => {
    await runChange({ database }, accountId, async (transaction) => {
      if (!(await removeApiKey(transaction, accountId, id)))
        throw new OperatorError(`The account ${accountId} has no API key ${id}.`);
      await recordCommand(transaction, { kind: 'api_key_removed', accountId, detail: { id } });
    });
    process.stderr.write(`Revoked ${id}, on every node within a second.\n`);
    return 0;
  });
}
