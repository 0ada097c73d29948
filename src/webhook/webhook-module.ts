import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Clock } from '../foundation/clock.ts';
import { announceChange } from '../foundation/database/announce.ts';
import type { CommitWith } from '../foundation/database/commit-with.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { HostNames } from '../foundation/dns/host-names.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { PublicNetworks } from '../foundation/network/public-networks.ts';
import { PeriodicTask } from '../foundation/periodic-task.ts';
import type { Tracing } from '../foundation/tracing/tracing.ts';
import { within } from '../foundation/within.ts';
import type { AttachmentStore } from '../message/attachment-store.ts';
import type { WebhookKind } from '../message/event-kinds.ts';
import {
  type ReplaySelection,
  removeOldDeliveries,
  replayDelivery,
  resumeNext,
} from './delivery-store.ts';
import { unpauseEndpoint } from './endpoint-store.ts';
import { startReplay } from './replay-store.ts';
import { SecretBox } from './secret-box.ts';
import { sendTestEvent, type TestEventResult } from './send-test-event.ts';
import { WebhookWorker, webhookWorkTopic } from './webhook-worker.ts';

/** The requests in flight of a stopping process have a last chance to end. */
const maxStopMs = 10_000;
const hourMs = 60 * 60 * 1_000;

export interface WebhookDependencies {
  readonly database: Database;
  readonly log: Log;
  readonly key: MasterKey;
  readonly clock: Clock;
  readonly changes: Pick<ChangeListener, 'subscribe'>;
  /** Has the parts of replies. */
  readonly attachments: Pick<AttachmentStore, 'read'>;
  /** The public URL, without a trailing slash. */
  readonly publicUrl: () => string;
  /** Non-public networks that endpoints may use. */
  readonly allowedNetworks: readonly string[];
  readonly hostNames: HostNames;
  /** Undefined: requests aren't traced. */
  readonly tracing?: Tracing | undefined;
}

/** What the rest of the service uses of webhooks. */
export interface Webhooks {
  /** For endpoint stores, which hold secrets. */
  readonly box: SecretBox;
  readonly networks: PublicNetworks;
  /** Starts delivering. */
  start(): void;
  /** Waits for requests in flight. */
  stop(): Promise<void>;
  /**
   * Resumes a paused endpoint.
   * @param commitWith work to commit in the same transaction
   * @returns false if the endpoint is not found
   */
  resume(accountId: AccountId, endpointId: string, commitWith?: CommitWith): Promise<boolean>;
  /**
   * Replays one event.
   * @param commitWith work to commit in the same transaction; receives the number of events
   * @returns the number of events: 0 if it is not found
   */
  replayEvent(
    accountId: AccountId,
    endpointId: string,
    eventId: string,
    commitWith: (transaction: Database['kysely'], events: number) => Promise<void>,
  ): Promise<number>;
  /**
   * Starts a replay of a period, which a worker completes even if this process dies.
   * @param commitWith work to commit in the same transaction
   * @returns its id; undefined if one is running or the endpoint is not found
   */
  replayPeriod(
    accountId: AccountId,
    endpointId: string,
    selection: ReplaySelection,
    commitWith: CommitWith,
  ): Promise<string | undefined>;
  /**
   * Posts a sample event to an endpoint, also while it is paused. It isn't logged or retried.
   * @returns undefined if the endpoint is not found
   */
  sendTest(
    accountId: AccountId,
    endpointId: string,
    kind: WebhookKind,
  ): Promise<TestEventResult | undefined>;
}

export function createWebhooks(dependencies: WebhookDependencies): Webhooks {
  const { database, log, clock, hostNames, changes, tracing, attachments, publicUrl } =
    dependencies;
  const box = new SecretBox(dependencies.key);
  const networks = new PublicNetworks(dependencies.allowedNetworks);
  const sending = { database, box, networks, hostNames, clock, attachments, publicUrl, tracing };
  const worker = new WebhookWorker({ ...sending, log, changes });
  const cleanup = new PeriodicTask(hourMs, () => removeOldDeliveries(database.kysely), {
    onError: (error) => log.warn({ err: error }, 'could not remove old webhook deliveries'),
  });
  /** Commits work for the worker of any process. */
  const inTransaction = <Result>(
    accountId: AccountId,
    run: (transaction: Database['kysely']) => Promise<Result>,
  ): Promise<Result> =>
    database.kysely.transaction().execute(async (transaction) => {
      const result = await run(transaction);
      await announceChange(transaction, webhookWorkTopic, accountId);
      return result;
    });
  return {
    box,
    networks,
    start() {
      worker.start();
      cleanup.start();
    },
    async stop() {
      await cleanup.stop();
      await within(worker.stop(), maxStopMs, () => undefined);
    },
    resume: (accountId, endpointId, commitWith) =>
      inTransaction(accountId, async (transaction) => {
        if (!(await unpauseEndpoint(transaction, accountId, endpointId))) return false;
        await resumeNext(transaction, accountId, endpointId);
        await commitWith?.(transaction);
        return true;
      }),
    replayEvent: (accountId, endpointId, eventId, commitWith) =>
      inTransaction(accountId, async (transaction) => {
        const events = await replayDelivery(transaction, accountId, endpointId, eventId);
        await commitWith(transaction, events);
        return events;
      }),
    replayPeriod: (accountId, endpointId, selection, commitWith) =>
      inTransaction(accountId, async (transaction) => {
        const replayId = await startReplay(transaction, accountId, endpointId, selection);
        if (replayId !== undefined) await commitWith(transaction);
        return replayId;
      }),
    sendTest: (accountId, endpointId, kind) => sendTestEvent(sending, accountId, endpointId, kind),
  };
}
