import { setTimeout as delay } from 'node:timers/promises';
import { generateApiKey } from '../../accounts/access/api-key.ts';
import { addApiKey, removeApiKey } from '../../accounts/access/api-key-store.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { type AccountId, isPublicId, type MessageId } from '../../base/values/ids.ts';
import { isFinalState } from '../../content/message/message-state.ts';
import {
  readMessageStatus,
  type StoredMessageStatus,
} from '../../content/message/message-status-store.ts';
import {
  ManagementConnection,
  TypesFailure,
} from '../../content/template-types/management-connection.ts';
import { runChange } from '../change/change-resource.ts';
import { readUserAddress } from './add-user.ts';
import { readInteger } from './join-installation.ts';
import { onAccount, type RunningInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { localServiceUrl } from './service-url.ts';
import { type CommandShell, printResult } from './shell.ts';

interface SendTestOptions {
  readonly url?: string;
  readonly wait: string;
}

const pollMs = 250;
const keyMinutes = 5;

/**
 * `send-test ACCOUNT TEMPLATE TO`: sends a template with its sample values, as the console does, and waits for the outcome. The
 * running service gets a key for it that is removed at once.
 * @returns the exit code: 0, or 1 if it wasn't delivered in time
 */
export const sendTest = onAccount(
  (template: string, recipient: string, options: SendTestOptions) => {
    if (!isPublicId(template)) throw new OperatorError(`"${template}" is not a valid template ID.`);
    const to = readUserAddress(recipient);
    const waitSeconds = readInteger('--wait', options.wait, 0, 600);
    return async (context) => {
      const { shell, config, database, accountId } = context;
      const messageId = await withTemporaryKey(context, accountId, async (key) => {
        const connection = new ManagementConnection(options.url ?? localServiceUrl(config), key);
        const path = `/templates/${template}/test-send`;
        const { body } = await connection.call('POST', path, { body: { to } });
        return (body as { readonly messageId: MessageId }).messageId;
      });
      const deadline = Date.now() + waitSeconds * 1_000;
      for (;;) {
        const status = await readMessageStatus(database.kysely, accountId, messageId);
        const state = status?.message.state ?? 'queued';
        const isOver = isFinalState(state) || state === 'failed';
        if (isOver || Date.now() >= deadline) return report(shell, messageId, status);
        await delay(pollMs);
      }
    };
  },
);

function report(
  shell: CommandShell,
  messageId: MessageId,
  status: StoredMessageStatus | undefined,
): number {
  const state = status?.message.state ?? 'queued';
  const reason = status?.queued[0]?.reason ?? reasonOf(status) ?? null;
  const text = reason === null ? state : `${state}: ${reason}`;
  printResult(shell, `${messageId}  ${text}`, { messageId, state, reason });
  return state === 'delivered' ? 0 : 1;
}

function reasonOf(status: StoredMessageStatus | undefined): string | undefined {
  const { reason } = (status?.events.at(-1)?.detail ?? {}) as { readonly reason?: unknown };
  return typeof reason === 'string' ? reason : undefined;
}

const scopes = ['messages:test', 'templates:read'] as const;

/** Runs work with an API key that can only test templates, and that expires even if this process dies. */
async function withTemporaryKey<Result>(
  { database }: RunningInstallation,
  accountId: AccountId,
  work: (key: string) => Promise<Result>,
): Promise<Result> {
  const { text, hash, hint } = generateApiKey(accountId);
  const id = await runChange({ database }, accountId, async (transaction) => {
    const added = await addApiKey(transaction, {
      accountId,
      hash,
      hint,
      name: 'signalpost send-test',
      scopes: [...scopes],
      networks: null,
      templates: null,
      createdBy: undefined,
      expiresAt: new Date(Date.now() + keyMinutes * 60_000),
    });
    const detail = { id: added, scopes: scopes.join(' ') };
    await recordCommand(transaction, { kind: 'api_key_created', accountId, detail });
    return added;
  });
  try {
    return await work(text);
  } catch (error) {
    if (!(error instanceof TypesFailure)) throw error;
    throw new OperatorError(`${error.message}.`, { cause: error });
  } finally {
    await runChange({ database }, accountId, async (transaction) => {
      await removeApiKey(transaction, accountId, id);
      await recordCommand(transaction, { kind: 'api_key_removed', accountId, detail: { id } });
    });
  }
}
