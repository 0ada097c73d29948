import { announceChange } from '../../base/database/announce.ts';
import type { CommitWith } from '../../base/database/commit-with.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { PublicNetworks } from '../../base/network/public-networks.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { within } from '../../base/values/within.ts';
import type { WebhookKind } from '../../content/message/event-kinds.ts';
import {
  type ReplaySelection,
  removeOldDeliveries,
  replayDelivery,
  resumeNext,
} from './delivery-store.ts';
import { unpauseEndpoint } from './endpoint-store.ts';
import { startReplay } from './replay-store.ts';
import { SecretBox } from './secret-box.ts';
import { sendTestEvent } from './send-test-event.ts';
import {
  WebhookWorker,
  type WebhookWorkerDependencies,
  webhookWorkTopic,
} from './webhook-worker.ts';

/** The requests in flight of a stopping process have a last chance to end. */
const maxStopMs = 10_000;
const hourMs = 60 * 60 * 1_000;

export interface WebhookDependencies extends Omit<WebhookWorkerDependencies, 'box' | 'networks'> {
  readonly key: MasterKey;
  /** Non-public networks that endpoints may use. */
  readonly allowedNetworks: readonly string[];
}

/** What the rest of the service uses of webhooks. */
export type Webhooks = ReturnType<typeof createWebhooks>;

export function createWebhooks({ key, allowedNetworks, ...dependencies }: WebhookDependencies) {
  const { database, log } = dependencies;
  const box = new SecretBox(key);
  const networks = new PublicNetworks(allowedNetworks);
  const sending = { ...dependencies, box, networks };
  const worker = new WebhookWorker(sending);
  const cleanup = new PeriodicTask(hourMs, () => removeOldDeliveries(database.kysely), {
    onError: (error) => log.warn({ err: error }, 'could not remove old webhook deliveries'),
  });
  /** Commits work for the worker of any process. */
  const inTransaction = <Result>(
    accountId: AccountId,
    run: (transaction: Kysely) => Promise<Result>,
  ): Promise<Result> =>
    database.kysely.transaction().execute(async (transaction) => {
      const result = await run(transaction);
      await announceChange(transaction, webhookWorkTopic, accountId);
      return result;
    });
  return {
    /** For endpoint stores, which hold secrets. */
    box,
    networks,
    /** Starts delivering. */
    start(): void {
      worker.start();
      cleanup.start();
    },
    /** Waits for requests in flight. */
    async stop(): Promise<void> {
      await cleanup.stop();
      await within(worker.stop(), maxStopMs, () => undefined);
    },
    /**
     * Resumes a paused endpoint.
     * @param commitWith work to commit in the same transaction
     * @returns false if the endpoint is not found
     */
    resume: (accountId: AccountId, endpointId: string, commitWith?: CommitWith): Promise<boolean> =>
      inTransaction(accountId, async (transaction) => {
        if (!(await unpauseEndpoint(transaction, accountId, endpointId))) return false;
        await resumeNext(transaction, accountId, endpointId);
        await commitWith?.(transaction);
        return true;
      }),
    /**
     * Replays one event.
     * @param commitWith work to commit in the same transaction; receives the number of events
     * @returns the number of events: 0 if it is not found
     */
    replayEvent: (
      accountId: AccountId,
      endpointId: string,
      eventId: string,
      commitWith: (transaction: Kysely, events: number) => Promise<void>,
    ): Promise<number> =>
      inTransaction(accountId, async (transaction) => {
        const events = await replayDelivery(transaction, accountId, endpointId, eventId);
        await commitWith(transaction, events);
        return events;
      }),
    /**
     * Starts a replay of a period, which a worker completes even if this process dies.
     * @param commitWith work to commit in the same transaction
     * @returns its id; undefined if one is running or the endpoint is not found
     */
    replayPeriod: (
      accountId: AccountId,
      endpointId: string,
      selection: ReplaySelection,
      commitWith: CommitWith,
    ): Promise<string | undefined> =>
      inTransaction(accountId, async (transaction) => {
        const replayId = await startReplay(transaction, accountId, endpointId, selection);
        if (replayId !== undefined) await commitWith(transaction);
        return replayId;
      }),
    /**
     * Posts a sample event to an endpoint, also while it is paused. It isn't logged or retried.
     * @returns undefined if the endpoint is not found
     */
    sendTest: (accountId: AccountId, endpointId: string, kind: WebhookKind) =>
      sendTestEvent(sending, accountId, endpointId, kind),
  };
}
