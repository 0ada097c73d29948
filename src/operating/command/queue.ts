import { OperatorError } from '../../base/values/errors.ts';
import { type MessageId, parseMessageId } from '../../base/values/ids.ts';
import { parseDomainName } from '../../base/values/mail-domain.ts';
import { readMessageStatus } from '../../content/message/message-status-store.ts';
import { QueueControlStore, type QueueSelection } from '../../sending/queue/control-store.ts';
import { readWaitingDestinations } from '../management/message/queue-page-store.ts';
import { withRunningInstallation } from './open-running.ts';
import type { QueueAction, QueueCommandOptions } from './queue-actions.ts';
import { readAccountId, requireAccount } from './read-account.ts';
import { recordCommand } from './record-command.ts';
import { type CommandShell, printResult, printTable } from './shell.ts';

const done: Readonly<Record<QueueAction, string>> = {
  pause: 'paused',
  resume: 'resumed',
  cancel: 'canceled',
  retry: 'due now',
};

/**
 * `queue pause|resume|cancel|retry ACCOUNT [MESSAGE | --destination DOMAIN]`: acts on queued messages of
 * the installation of DATABASE_URL, or of the service running on DATA_DIR. Prints how many messages were changed.
 * @returns the exit code: 0, or 1 if the given message is not waiting
 * @throws OperatorError for unknown IDs, an invalid domain, or an installation that can't be reached
 */
export async function queueCommand(
  action: QueueAction,
  shell: CommandShell,
  account: string | undefined,
  message: string | undefined,
  options: QueueCommandOptions,
): Promise<number> {
  const requested = readSelection(action, {
    ...options,
    account: account ?? options.account,
    message: message ?? options.message,
  });
  return withRunningInstallation(shell, async ({ database }) => {
    await requireAccount(database.kysely, requested.accountId);
    const store = new QueueControlStore(database);
    const selection = action === 'resume' ? await findPause(store, requested, options) : requested;
    const { changed, busy } = await store.control(action, selection, (transaction) =>
      recordCommand(transaction, entryOf(action, selection)),
    );
    printResult(shell, options, describe(action, selection, changed, busy), { changed, busy });
    return changed === 0 && selection.messageId !== undefined ? 1 : 0;
  });
}

/**
 * Audit log kinds for actions on more than one message. Pausing these creates a pause, which also holds future
 * messages.
 */
const kinds: Readonly<Record<QueueAction, string>> = {
  pause: 'pause_created',
  resume: 'pause_removed',
  cancel: 'queue_cancel',
  retry: 'queue_retry',
};

function entryOf(action: QueueAction, { accountId, messageId, destination = '*' }: QueueSelection) {
  if (messageId !== undefined)
    return { kind: `message_${action}`, accountId, detail: { id: messageId } };
  return { kind: kinds[action], accountId, detail: { id: destination } };
}

function describe(
  action: QueueAction,
  selection: QueueSelection,
  changed: number,
  busy: number,
): string {
  if (selection.messageId === undefined && (action === 'pause' || action === 'resume')) {
    const what =
      selection.destination === undefined ? 'the account' : `mail to ${selection.destination}`;
    return changed === 0
      ? `Nothing to do: ${what} is ${action === 'pause' ? 'already paused' : 'not paused'}.`
      : `Done: ${what} is ${done[action]}.`;
  }
  const sending = busy === 0 ? '' : `; ${busy} being sent now`;
  return `${changed} ${changed === 1 ? 'message' : 'messages'} ${done[action]}${sending}.`;
}

function readSelection(action: QueueAction, options: QueueCommandOptions): QueueSelection {
  const accountId = readAccountId(options.account);
  const { message, destination } = options;
  if (message !== undefined && destination !== undefined)
    throw new OperatorError('Name a message or use --destination, not both.');
  const messageId = readMessageId(message);
  if (destination === undefined) return { accountId, messageId };
  const domain = parseDomainName(destination);
  if (domain === undefined && action === 'pause')
    throw new OperatorError(
      `--destination must be a domain name with at least two labels, such as example.com, not "${destination}".`,
    );
  return { accountId, destination: domain ?? destination.toLowerCase() };
}

function readMessageId(text: string | undefined): MessageId | undefined {
  if (text === undefined) return undefined;
  const messageId = parseMessageId(text);
  if (messageId === undefined) throw new OperatorError(`"${text}" is not a valid message ID.`);
  return messageId;
}

/** Earlier releases accepted invalid domain names, and those pauses must remain removable. */
async function findPause(
  store: QueueControlStore,
  selection: QueueSelection,
  { destination }: QueueCommandOptions,
): Promise<QueueSelection> {
  const lowercase = destination?.toLowerCase();
  if (lowercase === undefined || lowercase === selection.destination) return selection;
  const pauses = await store.pausedDestinations(selection.accountId);
  return pauses.includes(lowercase) ? { ...selection, destination: lowercase } : selection;
}

/**
 * `queue list ACCOUNT [MESSAGE]`: lists queued messages by destination with next attempt and reason, or shows one message.
 * @returns the exit code: 0, or 1 if the given message is unknown
 * @throws OperatorError for invalid or unknown IDs, or an installation that can't be reached
 */
export async function listQueue(
  shell: CommandShell,
  account: string | undefined,
  message: string | undefined,
  options: QueueCommandOptions,
): Promise<number> {
  const accountId = readAccountId(account ?? options.account);
  const messageId = readMessageId(message ?? options.message);
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
