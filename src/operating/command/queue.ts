import { OperatorError } from '../../base/values/errors.ts';
import { type MessageId, parseMessageId } from '../../base/values/ids.ts';
import { parseDomainName } from '../../base/values/mail-domain.ts';
import { readMessageStatus } from '../../content/message/message-status-store.ts';
import { QueueControlStore, type QueueSelection } from '../../sending/queue/control-store.ts';
import { readWaitingDestinations } from '../management/message/queue-page-store.ts';
import { onInstallation } from './open-running.ts';
import { readAccountId, requireAccount } from './read-account.ts';
import { recordCommand } from './record-command.ts';
import { printResult, printTable } from './shell.ts';

type QueueAction = 'pause' | 'resume' | 'cancel' | 'retry';

/** Earlier releases named the account and the message by options. */
interface QueueOptions {
  readonly account?: string;
  readonly message?: string;
  readonly destination?: string;
}

const done: Readonly<Record<QueueAction, string>> = {
  pause: 'paused',
  resume: 'resumed',
  cancel: 'canceled',
  retry: 'due now',
};

/**
 * `queue pause|resume|cancel|retry ACCOUNT [MESSAGE | --destination DOMAIN]`: acts on queued messages, and prints how many
 * were changed.
 * @returns the exit code: 0, or 1 if the given message is not waiting
 */
function control(action: QueueAction) {
  return onInstallation(
    (account: string | undefined, message: string | undefined, given: QueueOptions) => {
      const options = {
        ...given,
        account: account ?? given.account,
        message: message ?? given.message,
      };
      const requested = readSelection(action, options);
      return async ({ shell, database }) => {
        await requireAccount(database.kysely, requested.accountId);
        const store = new QueueControlStore(database);
        const selection =
          action === 'resume' ? await findPause(store, requested, options) : requested;
        const { changed, busy } = await store.control(action, selection, (transaction) =>
          recordCommand(transaction, entryOf(action, selection)),
        );
        printResult(shell, describe(action, selection, changed, busy), { changed, busy });
        return changed === 0 && selection.messageId !== undefined ? 1 : 0;
      };
    },
  );
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

function readSelection(
  action: QueueAction,
  options: { readonly [Name in keyof QueueOptions]: string | undefined },
): QueueSelection {
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
  { destination }: QueueOptions,
): Promise<QueueSelection> {
  const lowercase = destination?.toLowerCase();
  if (lowercase === undefined || lowercase === selection.destination) return selection;
  const pauses = await store.pausedDestinations(selection.accountId);
  return pauses.includes(lowercase) ? { ...selection, destination: lowercase } : selection;
}

export const queueCommands = {
  /**
   * `queue list ACCOUNT [MESSAGE]`: lists queued messages by destination with next attempt and reason, or shows one message.
   * @returns the exit code: 0, or 1 if the given message is unknown
   */
  list: onInstallation(
    (account: string | undefined, message: string | undefined, options: QueueOptions) => {
      const accountId = readAccountId(account ?? options.account);
      const messageId = readMessageId(message ?? options.message);
      return async ({ shell, database: { kysely } }) => {
        await requireAccount(kysely, accountId);
        if (messageId === undefined) {
          const { destinations, partial } = await readWaitingDestinations(kysely, accountId);
          printTable(shell, destinations, [
            ['destination', ({ destination }) => destination],
            [
              'waiting',
              ({ waiting }) =>
                partial ? `${waiting.toLocaleString('en')} or more` : waiting.toLocaleString('en'),
            ],
            [
              'next attempt',
              ({ nextAttemptAt }) => nextAttemptAt?.toISOString() ?? 'held for review',
            ],
            ['reason', ({ reason }) => reason ?? undefined],
          ]);
          return 0;
        }
        const found = await readMessageStatus(kysely, accountId, messageId);
        if (found === undefined) {
          shell.err(`Message ${messageId} not found in the account.\n`);
          return 1;
        }
        const { message, queued } = found;
        const [next] = queued;
        const shown = {
          id: messageId,
          state: message.state,
          sending: next?.leased ?? false,
          nextAttemptAt: next?.due_at ?? null,
          reason: next?.reason ?? null,
        };
        printTable(
          shell,
          [shown],
          [
            ['message', ({ id }) => id],
            ['state', ({ state }) => state],
            [
              'next attempt',
              ({ sending, nextAttemptAt }) => {
                if (next === undefined) return undefined;
                return sending ? 'being sent' : (nextAttemptAt?.toISOString() ?? 'held for review');
              },
            ],
            ['reason', ({ reason }) => reason ?? undefined],
          ],
        );
        return 0;
      };
    },
  ),
  pause: control('pause'),
  resume: control('resume'),
  cancel: control('cancel'),
  retry: control('retry'),
};
