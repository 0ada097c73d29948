import { maxOverlapHours, readLiveApiKey, replaceApiKey } from '../../access/issue-api-key.ts';
import { runChange } from '../../change/change-resource.ts';
import { systemClock } from '../../foundation/clock.ts';
import { OperatorError } from '../../foundation/errors.ts';
import { recordCommand } from '../record-command.ts';
import { type CommandShell, type JsonOption, printResult } from '../shell.ts';
import { requireCreated } from './create-key.ts';
import { readInteger, readKeyId, withAccount } from './with-account.ts';

export interface RotateKeyOptions extends JsonOption {
  readonly overlapHours: string;
}

/**
 * `key rotate ACCOUNT ID`: replaces a key and prints only the new one on standard output; the old one works for the
 * overlap.
 * @throws OperatorError if the account has no such live key
 */
export async function rotateKey(
  accountText: string,
  idText: string,
  options: RotateKeyOptions,
  shell: CommandShell,
): Promise<number> {
  const id = readKeyId(idText);
  const overlapHours = readInteger('--overlap-hours', options.overlapHours, 0, maxOverlapHours);
  return withAccount(accountText, shell, async ({ database }, accountId) => {
    const newKey = await runChange({ database }, accountId, async (transaction) => {
      const now = systemClock.now();
      const old = await readLiveApiKey(transaction, accountId, id, now);
      if (old === undefined)
        throw new OperatorError(
          `The account ${accountId} has no active API key ${id}. Run key list to see its keys.`,
        );
      const rotation = { accountId, old, overlapHours, createdBy: undefined, now };
      const created = requireCreated(await replaceApiKey(transaction, rotation));
      const scopes = old.scopes.join(' ');
      await recordCommand(transaction, {
        kind: 'api_key_created',
        accountId,
        detail: { id: created.id, scopes },
      });
      await recordCommand(transaction, {
        kind: 'api_key_rotated',
        accountId,
        detail: { id, replacedBy: created.id },
      });
      return created;
    });
    printResult(shell, options, newKey.text, { id: newKey.id, key: newKey.text, replaces: id });
    const oldKeyState =
      overlapHours === 0 ? 'no longer works' : `works for another ${overlapHours} h`;
    shell.err(
      `This is shown once. The new key’s ID is ${newKey.id}. The old key ${oldKeyState}.\n`,
    );
    return 0;
  });
}
