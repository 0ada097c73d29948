import { OperatorError } from '../foundation/errors.ts';
import { parseAccountId, parseMessageId } from '../foundation/ids.ts';
import { readWaitingDestinations } from '../management/message/queue-page-store.ts';
import { readMessageStatus } from '../message/message-status-store.ts';
import { withRunningInstallation } from './open-running.ts';
import { requireAccount } from './require-account.ts';

/**
 * `queue list --account ID [--message ID]`: lists queued messages with next attempt and reason, one line per
 * destination, or shows one message.
 * @returns the exit code: 0, or 1 if the given message is unknown
 * @throws OperatorError for invalid or unknown IDs, or an installation that can't be reached
 */
export async function listQueue(
  options: { readonly account: string; readonly message?: string },
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const accountId = parseAccountId(options.account);
  if (accountId === undefined)
    throw new OperatorError(`--account must be an account ID, not "${options.account}".`);
  const messageId = options.message === undefined ? undefined : parseMessageId(options.message);
  if (options.message !== undefined && messageId === undefined)
    throw new OperatorError(`--message must be a message ID, not "${options.message}".`);
  return withRunningInstallation(environment, async ({ database: { kysely } }) => {
    await requireAccount(kysely, accountId);
    if (messageId === undefined) {
      const { destinations, partial } = await readWaitingDestinations(kysely, accountId);
      for (const { destination, waiting, nextAttemptAt, reason } of destinations) {
        const count = partial ? `${waiting.toLocaleString('en')} or more` : waiting;
        const next = showNext(nextAttemptAt, reason);
        process.stdout.write(`${destination}\t${count} waiting\t${next}\n`);
      }
      return 0;
    }
    const found = await readMessageStatus(kysely, accountId, messageId);
    if (found === undefined) {
      process.stdout.write(`Message ${messageId} not found in the account.\n`);
      return 1;
    }
    const { message, entry } = found;
    const rest =
      entry === undefined
        ? ''
        : `\t${entry.leased ? 'being sent' : showNext(entry.due_at, entry.reason)}`;
    process.stdout.write(`${messageId}\t${message.state}${rest}\n`);
    return 0;
  });
}

function showNext(next: Date | null, reason: string | null): string {
  const when = next === null ? 'held for review' : `next ${next.toISOString()}`;
  return reason === null ? when : `${when}\t${reason}`;
}
