import { OperatorError } from '../foundation/errors.ts';
import { parseMessageId } from '../foundation/ids.ts';
import { readWaitingDestinations } from '../management/message/queue-page-store.ts';
import { readMessageStatus } from '../message/message-status-store.ts';
import { withRunningInstallation } from './open-running.ts';
import type { QueueCommandOptions } from './queue-actions.ts';
import { readAccountId } from './read-account.ts';
import { requireAccount } from './require-account.ts';
import { type CommandShell, printTable } from './shell.ts';

/**
 * `queue list ACCOUNT [MESSAGE]`: lists queued messages by destination with next attempt and reason, or shows one message.
 * @returns the exit code: 0, or 1 if the given message is unknown
 * @throws OperatorError for invalid or unknown IDs, or an installation that can't be reached
 */
export async function listQueue(
  options: QueueCommandOptions,
  shell: CommandShell,
): Promise<number> {
  const accountId = readAccountId(options.account);
  const messageId = options.message === undefined ? undefined : parseMessageId(options.message);
  if (options.message !== undefined && messageId === undefined)
    throw new OperatorError(`"${options.message}" is not a valid message ID.`);
  return withRunningInstallation(shell, async ({ database: { kysely } }) => {
    await requireAccount(kysely, accountId);
    if (messageId === undefined) {
      const { destinations, partial } = await readWaitingDestinations(kysely, accountId);
      printTable(shell, options, destinations, [
        ['destination', ({ destination }) => destination],
        [
          'waiting',
          ({ waiting }) =>
            partial ? `${waiting.toLocaleString('en')} or more` : waiting.toLocaleString('en'),
        ],
        ['next attempt', ({ nextAttemptAt }) => nextAttemptAt?.toISOString() ?? 'held for review'],
        ['reason', ({ reason }) => reason ?? undefined],
      ]);
      return 0;
    }
    const found = await readMessageStatus(kysely, accountId, messageId);
    if (found === undefined) {
      shell.err(`Message ${messageId} not found in the account.\n`);
      return 1;
    }
    const { message, entry } = found;
    const shown = {
      id: messageId,
      state: message.state,
      sending: entry?.leased ?? false,
      nextAttemptAt: entry?.due_at ?? null,
      reason: entry?.reason ?? null,
    };
    printTable(
      shell,
      options,
      [shown],
      [
        ['message', ({ id }) => id],
        ['state', ({ state }) => state],
        [
          'next attempt',
          ({ sending, nextAttemptAt }) => {
            if (entry === undefined) return undefined;
            return sending ? 'being sent' : (nextAttemptAt?.toISOString() ?? 'held for review');
          },
        ],
        ['reason', ({ reason }) => reason ?? undefined],
      ],
    );
    return 0;
  });
}
