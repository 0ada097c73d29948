import type { Registry } from 'prom-client';
import type { AccessModule } from '../access/access-module.ts';
import type { Account } from '../account/account.ts';
import type { AccountDirectory } from '../account/account-directory.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { Fault } from '../foundation/errors.ts';
import type { AccountId, ClientId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import type { Http } from '../http/create-http.ts';
import type { SenderDirectory } from '../sender/sender-directory.ts';
import { Acceptor, defaultAcceptorLimits } from './accept-messages.ts';
import type { AcceptOutcome, AcceptRow } from './accept-row.ts';
import { AcceptStore } from './accept-store.ts';
import type { Receipt } from './commit-message.ts';
import { IdempotencyLocks } from './idempotency.ts';
import { registerMessageStatusRoute } from './message-status-routes.ts';
import { SendBodyParser } from './parse-send-body.ts';
import { QuotaShares } from './quota-shares.ts';
import { RecentTemplateUsage } from './recent-template-usage.ts';
import { type SendDependencies, sendEmail } from './send-email.ts';
import { registerSendEmailRoute } from './send-email-routes.ts';
import { SubmissionMetrics } from './submission-metrics.ts';
import { SubmissionUpkeep } from './submission-upkeep.ts';

export interface SubmissionDependencies {
  readonly database: Database;
  readonly log: Log;
  readonly metrics: Registry;
  readonly access: Pick<AccessModule, 'authenticator' | 'facts'>;
  readonly accounts: AccountDirectory;
  readonly senders: SenderDirectory;
  readonly templates: SendDependencies['templates'];
  /** Told after each commit which accounts have new messages. */
  readonly onAccepted: (accountIds: Iterable<AccountId>) => void;
}

/** The send operation as the rest of the service sees it. */
export interface Submission {
  registerRoutes(http: Http): void;
  /**
   * Stores a message that was checked elsewhere.
   * @throws Fault QUOTA_EXCEEDED where its account may send no more now
   */
  accept(row: AcceptRow): Promise<AcceptOutcome>;
  /**
   * Sends a message of the service itself, with the same checks and commit as one of a caller; transactional where the
   * account has the add-on.
   * @throws Fault as the send operation does
   */
  sendServiceMessage(
    accountId: AccountId,
    templateId: string,
    message: ServiceMessage,
  ): Promise<Receipt>;
  /** Makes this week's partitions and goes on with the upkeep. */
  start(): Promise<void>;
  /** Waits for what is being accepted, then lets go of the connections. To be called when HTTP is closed. */
  stop(): Promise<void>;
}

/** A message of the service itself. */
interface ServiceMessage {
  /** Idempotency key: of attempts with the same one, one sends. */
  readonly key: string;
  readonly from: { readonly address: string; readonly name: string | undefined };
  readonly toAddress: string;
  /** False: it is worth nothing after the template's freshness window. */
  readonly deliverWhenDelayed: boolean;
  readonly values: Readonly<Record<string, string>>;
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

/** What messages of the service itself say of who sent them. */
const serviceClientId = 'signalpost' as ClientId;

/** Connects the parts of the send operation with each other. */
export function createSubmission(dependencies: SubmissionDependencies): Submission {
  const { database, log } = dependencies;
  // Batches and rows that are tried by themselves: one that waits for a lock holds up no other.
  const store = new AcceptStore(database.settings, defaultAcceptorLimits.concurrency * 2);
  const acceptor = new Acceptor({
    store,
    log,
    onAccepted: dependencies.onAccepted,
    onBatch: (rows) => metrics.batch(rows),
  });
  const metrics = new SubmissionMetrics(dependencies.metrics, () => acceptor.waiting);
  const keys = new IdempotencyLocks();
  const parser = new SendBodyParser();
  const usage = new RecentTemplateUsage();
  const upkeep = new SubmissionUpkeep({ database, log });
  const quotas = new QuotaShares({ database, log });
  return {
    registerRoutes(http) {
      const { access, senders, templates } = dependencies;
      const { authenticator, facts } = access;
      const checks = { authenticator, facts, senders, templates, parser, keys, quotas, usage };
      registerSendEmailRoute(http, { ...checks, database, acceptor, metrics });
      registerMessageStatusRoute(http, { authenticator, facts, database });
    },
    async sendServiceMessage(accountId, templateId, message) {
      const account = await dependencies.accounts.account(accountId);
      if (account === undefined) throw new Fault('INVALID_ID');
      const { senders, templates } = dependencies;
      return sendEmail(
        { senders, templates, parser, keys, quotas, usage, database, acceptor },
        {
          admission: { account, clientId: serviceClientId, templates: undefined },
          templateText: templateId,
          contentType: 'application/json',
          idempotencyKey: message.key,
          body: Buffer.from(JSON.stringify(bodyOf(message, account))),
        },
      );
    },
    async accept(row) {
      const quota = (await dependencies.accounts.account(row.accountId))?.quota;
      const refund = quota && (await quotas.spend(row.accountId, quota));
      const outcome = await acceptor.accept(row);
      if (outcome.kind !== 'accepted') refund?.();
      return outcome;
    },
    start: () => upkeep.start(),
    async stop() {
      await acceptor.drain();
      await quotas.stop();
      await upkeep.stop();
      await store.close();
    },
  };
}
