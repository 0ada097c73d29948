import type { Registry } from 'prom-client';
import type { AccessModule } from '../../accounts/access/access-module.ts';
import type { Account } from '../../accounts/account/account.ts';
import type { AccountDirectory } from '../../accounts/account/account-directory.ts';
import { syncIdClock } from '../../base/database/database-time-store.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { Clock } from '../../base/values/clock.ts';
import { Fault } from '../../base/values/errors.ts';
import type { AccountId, ClientId, MessageId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import { ensureMessagePartitions } from '../../content/message/message-partitions-store.ts';
import { isTestClass } from '../../content/message/test-class.ts';
import { toFault } from '../../host/http/answer-fault.ts';
import type { Http } from '../../host/http/create-http.ts';
import { Acceptor, defaultAcceptorLimits } from './accept-messages.ts';
import { type AcceptOutcome, type AcceptRow, countRecipients } from './accept-row.ts';
import { AcceptStore } from './accept-store.ts';
import { admitService, type RawRight } from './admit-caller.ts';
import { type AdmittedRequest, checkBeforeCommit } from './check-message.ts';
import { findReplay, type Receipt } from './commit-message.ts';
import { CustomHeaderRules } from './custom-headers.ts';
import { type IdempotencyKey, IdempotencyLocks } from './idempotency.ts';
import { removeOldIdempotencyKeys } from './idempotency-key-store.ts';
import { registerMessageStatusRoute } from './message-status-routes.ts';
import { SendBodyParser } from './parse-send-body.ts';
import { QuotaShares } from './quota-shares.ts';
import { RecentTemplateUsage } from './recent-template-usage.ts';
import { BatchSender } from './send-batch.ts';
import { registerSendBatchRoute } from './send-batch-routes.ts';
import {
  type ContentMessage,
  type ContentSending,
  checkContentMessage,
  sendContent,
} from './send-content.ts';
import type { SendDependencies } from './send-dependencies.ts';
import { sendEmail } from './send-email.ts';
import { registerSendContentRoute, registerSendEmailRoute } from './send-email-routes.ts';
import { type RawMessage, sendRaw } from './send-raw.ts';
import { createSubmissionMetrics } from './submission-metrics.ts';

export interface SubmissionDependencies
  extends Omit<SendDependencies, 'parser' | 'keys' | 'quotas' | 'usage' | 'acceptor'> {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
  readonly access: Pick<AccessModule, 'authenticator' | 'facts'>;
  readonly accounts: AccountDirectory;
  /** Headers that requests must not set, besides the reserved ones. */
  readonly refusedHeaders: readonly string[];
  /** Called after each commit with the accounts that have new messages. */
  readonly onAccepted: (accountIds: Iterable<AccountId>) => void;
  /** Called after each commit of test messages. */
  readonly onTests: (accountIds: Iterable<AccountId>) => void;
}

/** The send operation for the rest of the service. */
export type Submission = ReturnType<typeof createSubmission>;

/** A message sent by the service itself. */
interface ServiceMessage {
  /** Idempotency key; only one attempt per key is sent. */
  readonly key: string;
  readonly from: { readonly address: string; readonly name: string | undefined };
  readonly toAddress: string;
  /** False if it is worthless after the template's freshness window. */
  readonly deliverWhenDelayed: boolean;
  readonly values: Readonly<Record<string, string>>;
}

/** A message that a row of an account's outbox stands for. */
interface RowMessage {
  /** The source of the row, which the message is recorded with. */
  readonly source: string;
  readonly templateId: string;
  readonly key: IdempotencyKey;
  /** The message that it was sent as before, even if its key has been forgotten; null: none. */
  readonly sentAs: string | null;
  readonly body: Buffer;
}

function bodyOf(
  { from, toAddress, deliverWhenDelayed, values }: ServiceMessage,
  { addOns }: Account,
): object {
  const fromDisplayName = from.name === undefined ? {} : { fromDisplayName: from.name };
  return {
    envelope: { toAddress, fromAddress: from.address, ...fromDisplayName },
    content: { personalizationDataMap: values },
    metadata: addOns.has('transactional') ? { transactional: true } : {},
    actions: {
      trackOpens: false,
      trackClicks: false,
      deliveryWhenDelayed: deliverWhenDelayed ? 'TRUE' : 'FALSE',
    },
  };
}

/** Client id recorded for the service's own messages. */
const serviceClientId = 'signalpost' as ClientId;

export function createSubmission(dependencies: SubmissionDependencies) {
  const { database, log, attachments, templates } = dependencies;
  // Separate connections for batches and for rows retried individually, so that a row waiting for a lock delays no batch.
  const store = new AcceptStore(database.settings, defaultAcceptorLimits.concurrency * 2);
  const acceptor = new Acceptor({
    store,
    log,
    onAccepted: dependencies.onAccepted,
    onTests: dependencies.onTests,
    onBatch: (rows) => metrics.batch(rows),
  });
  const metrics = createSubmissionMetrics(dependencies.metrics, () => acceptor.waiting);
  const keys = new IdempotencyLocks();
  const parser = new SendBodyParser(
    () => dependencies.clock.now(),
    new CustomHeaderRules(dependencies.refusedHeaders),
  );
  const usage = new RecentTemplateUsage();
  const upkeep = createUpkeep({ database, log });
  const quotas = new QuotaShares({ database, log });
  const sending: SendDependencies = { ...dependencies, parser, keys, quotas, usage, acceptor };
  const batches = new BatchSender(sending);
  const measured = async (send: () => Promise<Receipt>): Promise<Receipt> => {
    const startedAt = performance.now();
    try {
      const receipt = await send();
      metrics.accepted(performance.now() - startedAt);
      return receipt;
    } catch (error) {
      metrics.refused(toFault(error).code);
      throw error;
    }
  };
  return {
    registerRoutes(http: Http): void {
      const { authenticator, facts } = dependencies.access;
      registerSendBatchRoute(http, { authenticator, facts, templates, batches, metrics });
      const sends = { authenticator, facts, ...sending, metrics };
      registerSendContentRoute(http, sends);
      registerSendEmailRoute(http, sends);
      registerMessageStatusRoute(http, { authenticator, facts, database });
    },
    /**
     * Sends a message for a caller that has been admitted already, as the send operation does.
     * @throws Fault as the send operation does
     */
    send: (admitted: AdmittedRequest) => measured(() => sendEmail(sending, admitted)),
    /**
     * Sends a complete message for such a caller.
     * @throws Fault as the send operation does
     */
    sendRaw: (right: RawRight, message: RawMessage) =>
      measured(() => sendRaw(sending, right, message)),
    /**
     * Sends a message that isn't made from a stored template, for such a caller.
     * @throws Fault as the send operation does
     */
    sendContent: (right: RawRight, message: ContentMessage, request: ContentSending) =>
      measured(() => sendContent(sending, right, message, request)),
    /**
     * Checks 5 to 8 of a message that isn't sent.
     * @throws Fault as `send` does
     */
    check: async (admitted: AdmittedRequest): Promise<void> => {
      await checkBeforeCommit(sending, admitted);
    },
    /**
     * Checks 6 to 8 of a message that isn't sent. Contents of attachments in base64 bytes are decoded in place.
     * @throws Fault as `sendContent` does
     */
    checkContent: (right: RawRight, message: ContentMessage) =>
      checkContentMessage(sending, right, message),
    /** `BatchSender.useItems`, for batches of other APIs. */
    useItems: batches.useItems.bind(batches),
    /**
     * Sends a message from the service itself, with the same checks and commit as a caller's. Transactional if the
     * account has the add-on.
     * @throws Fault as the send operation does
     */
    async sendServiceMessage(
      accountId: AccountId,
      templateId: string,
      message: ServiceMessage,
    ): Promise<Receipt> {
      const account = await dependencies.accounts.account(accountId);
      if (account === undefined) throw new Fault('INVALID_ID');
      return sendEmail(sending, {
        admission: admitService({ account, clientId: serviceClientId }),
        templateText: templateId,
        contentType: 'application/json',
        idempotencyKey: message.key,
        body: Buffer.from(JSON.stringify(bodyOf(message, account))),
      });
    },
    /**
     * Sends the message of a row of an account's outbox, with the same checks and commit as a caller's.
     * @throws Fault as the send operation does
     */
    async sendRow(
      account: Account,
      { source, templateId, key, sentAs, body }: RowMessage,
    ): Promise<Pick<Receipt, 'messageId'>> {
      if (sentAs !== null)
        return (await findReplay(sending, account.id, key)) ?? { messageId: sentAs as MessageId };
      return measured(() =>
        sendEmail(sending, {
          admission: admitService({ account, clientId: `outbox-${source}` as ClientId }),
          templateText: templateId,
          contentType: 'application/json',
          idempotencyKey: undefined,
          rowKey: key,
          body,
        }),
      );
    },
    /**
     * Stores an already validated message.
     * @throws Fault QUOTA_EXCEEDED if its account has reached its quota
     */
    async accept(row: AcceptRow): Promise<AcceptOutcome> {
      if (row.attachments && !(await attachments.keep(row.accountId, row.attachments)))
        throw new Fault('IO_EXCEPTION', { cause: new Error('an attachment is not available now') });
      const quota = isTestClass(row.retentionDays)
        ? undefined
        : (await dependencies.accounts.account(row.accountId))?.quota;
      const refund = quota && (await quotas.spend(row.accountId, quota, countRecipients(row)));
      const outcome = await acceptor.accept(row);
      if (outcome.kind !== 'accepted') refund?.();
      return outcome;
    },
    /** Creates this week's partitions and starts upkeep. */
    start: () => upkeep.start(),
    /** Waits for pending accepts, then closes connections. Call after HTTP has closed. */
    async stop(): Promise<void> {
      await acceptor.drain();
      await quotas.stop();
      await upkeep.stop();
      await store.close();
    },
  };
}

const hourMs = 60 * 60 * 1000;
const minuteMs = 60 * 1000;
const clockCheckMs = 10 * 1000;

/** Creates upcoming partitions and removes old idempotency keys, at startup and every hour; keeps the time of IDs right. */
function createUpkeep(dependencies: Pick<SubmissionDependencies, 'database' | 'log'>) {
  const { database, log } = dependencies;
  const task = new PeriodicTask(
    hourMs,
    async () => {
      await syncIdClock(database.pool, log);
      await ensureMessagePartitions(dependencies);
      await removeOldIdempotencyKeys(database.kysely);
    },
    {
      retryMs: minuteMs,
      onError: (error) =>
        log.warn({ err: error }, 'upkeep of the message tables failed; retrying soon'),
    },
  );
  // A clock can be set at any time, and a message ID with a wrong time may have no partition.
  const clockTask = new PeriodicTask(clockCheckMs, () => syncIdClock(database.pool, log), {
    onError: () => undefined,
  });
  return {
    /** Resolves once this week's partitions exist, or at once if the database is unavailable. */
    start(): Promise<void> {
      task.start();
      clockTask.start();
      return task.runNow();
    },
    async stop(): Promise<void> {
      await clockTask.stop();
      await task.stop();
    },
  };
}
