import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { type Runner, run } from 'graphile-worker';
import type { Follower } from '../feedback/feed/event-feed.ts';
import type { Clock } from '../foundation/clock.ts';
import type { CommitWith } from '../foundation/database/commit-with.ts';
import { type Database, openDatabase } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { PublicNetworks } from '../foundation/network/public-networks.ts';
import { PeriodicTask } from '../foundation/periodic-task.ts';
import type { Tracing } from '../foundation/tracing/tracing.ts';
import type { AttachmentStore } from '../message/attachment-store.ts';
import type { WebhookKind } from '../message/event-kinds.ts';
import { deliverWebhooks, type WebhookJob } from './deliver-webhooks.ts';
import {
  enqueuePending,
  enqueueWindow,
  isReplaced,
  type ReplaySelection,
  removeOldDeliveries,
  removeReplacedJobs,
  replayDelivery,
} from './delivery-store.ts';
import { hasAnyEndpoint, unpauseEndpoint } from './endpoint-store.ts';
import { jobLogger, migrateJobs } from './migrate-jobs.ts';
import { type ReplayKey, runReplay, startReplay } from './replay-store.ts';
import { resumeAbandoned } from './resume-abandoned.ts';
import { SecretBox } from './secret-box.ts';
import { sendTestEvent, type TestEventResult } from './send-test-event.ts';
import { JobShares } from './share-jobs.ts';

/** Its name in `feed_cursor`. */
export const webhookFollowerName = 'webhook';

/** Concurrent jobs per process; they spend most of their time waiting for endpoints. */
const concurrency = 16;
/** Database connections used to fetch and complete jobs. */
const jobConnections = 6;
const restartMs = 5_000;
/** A runner whose database fails repeatedly never reports its end. */
const maxStopMs = 10_000;
const minuteMs = 60 * 1000;
const hourMs = 60 * minuteMs;

export interface WebhookDependencies {
  readonly database: Database;
  readonly log: Log;
  readonly key: MasterKey;
  readonly clock: Clock;
  /** Has the parts of replies. */
  readonly attachments: Pick<AttachmentStore, 'read'>;
  /** The public URL, without a trailing slash. */
  readonly publicUrl: () => string;
  /** Non-public networks that endpoints may use. */
  readonly allowedNetworks: readonly string[];
  /** Undefined: requests aren't traced. */
  readonly tracing?: Tracing | undefined;
}

/** What the rest of the service uses of webhooks. */
export interface Webhooks {
  /** For endpoint stores, which hold secrets. */
  readonly box: SecretBox;
  readonly networks: PublicNetworks;
  readonly follower: Follower;
  /** Starts delivering if any account has an endpoint, otherwise when the first endpoint gets an event. */
  start(): Promise<void>;
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

/** Wires up webhooks. Jobs use a few separate connections. */
export function createWebhooks(dependencies: WebhookDependencies): Webhooks {
  const { database, log, clock, tracing, attachments, publicUrl } = dependencies;
  const box = new SecretBox(dependencies.key);
  const networks = new PublicNetworks(dependencies.allowedNetworks);
  let jobs: Promise<void> | undefined;
  let migrated: Promise<void> | undefined;
  let jobDatabase: Database | undefined;
  let runner: Runner | undefined;
  let stopping = false;
  const upkeep = [
    new PeriodicTask(restartMs, () =>
      ensureJobs().catch((error: unknown) =>
        log.warn({ err: error }, 'could not restart webhook delivery'),
      ),
    ),
    new PeriodicTask(minuteMs, () =>
      resumeAbandoned(database.kysely).catch((error: unknown) =>
        log.warn({ err: error }, 'could not resume abandoned webhook deliveries'),
      ),
    ),
    new PeriodicTask(hourMs, () =>
      removeOldDeliveries(database.kysely)
        .then(() => removeReplacedJobs(database.kysely))
        .catch((error: unknown) =>
          log.warn({ err: error }, 'could not remove old webhook deliveries'),
        ),
    ),
  ];
  const migrate = (): Promise<void> => {
    migrated ??= migrateJobs(database.pool, log).catch((error: unknown) => {
      migrated = undefined;
      throw error;
    });
    return migrated;
  };
  const startJobs = async (): Promise<void> => {
    await migrate();
    jobDatabase = openDatabase(database.settings, {
      applicationName: 'signalpost jobs',
      maxConnections: jobConnections,
    });
    const shares = new JobShares(concurrency);
    runner = await run({
      pgPool: jobDatabase.pool,
      concurrency,
      // Only batched results are awaited by `stop`, and their database errors handled.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
      events: shares.events,
      forbiddenFlags: shares.forbiddenFlags,
      noHandleSignals: true,
      pollInterval: 1_000,
      parsedCronItems: [],
      logger: jobLogger(log),
      taskList: {
        webhook: (payload, { job }) =>
          deliverWebhooks(
            { database, box, networks, clock, attachments, publicUrl, tracing },
            payload as WebhookJob,
          ).catch(async (error: unknown) => {
            if (!(await isReplaced(database.kysely, job.id))) throw error;
          }),
        'webhook-replay': (payload) => runReplay(database.kysely, payload as ReplayKey),
      },
    });
    void restartAfter(runner, once(shares.events, 'pool:fatalError'));
    for (const task of upkeep) task.start();
  };
  /** The runner gives up if it can't record a job's result, for example while the database restarts. */
  const restartAfter = async (ending: Runner, failed: Promise<unknown>): Promise<void> => {
    await Promise.race([ending.promise, failed]).catch(() => undefined);
    if (stopping) return;
    log.warn('webhook delivery stopped because of a database error and will restart');
    runner = undefined;
    await settleWithin(ending.promise, maxStopMs);
    await jobDatabase?.close().catch(() => undefined);
    jobs = undefined;
  };
  const ensureJobs = (): Promise<void> => {
    jobs ??= startJobs().catch(async (error: unknown) => {
      jobs = undefined;
      // The next attempt opens its own connections.
      await jobDatabase?.close().catch(() => undefined);
      throw error;
    });
    return jobs;
  };
  return {
    box,
    networks,
    follower: {
      name: webhookFollowerName,
      async follow(transaction, window) {
        if (!(await hasAnyEndpoint(transaction))) return;
        await ensureJobs();
        await enqueueWindow(transaction, window);
      },
    },
    async start() {
      try {
        if (await hasAnyEndpoint(database.kysely)) await ensureJobs();
      } catch (error) {
        log.warn({ err: error }, 'could not start webhook delivery; retrying with the next event');
      }
    },
    async stop() {
      stopping = true;
      await jobs?.catch(() => undefined);
      for (const task of upkeep) await task.stop();
      if (runner !== undefined) await settleWithin(runner.stop(), maxStopMs);
      await jobDatabase?.close();
    },
    async resume(accountId, endpointId, commitWith) {
      await migrate();
      return await database.kysely.transaction().execute(async (transaction) => {
        if (!(await unpauseEndpoint(transaction, accountId, endpointId))) return false;
        await enqueuePending(transaction, accountId, endpointId);
        await commitWith?.(transaction);
        return true;
      });
    },
    async replayEvent(accountId, endpointId, eventId, commitWith) {
      await migrate();
      return await database.kysely.transaction().execute(async (transaction) => {
        const events = await replayDelivery(transaction, accountId, endpointId, eventId);
        await commitWith(transaction, events);
        return events;
      });
    },
    async replayPeriod(accountId, endpointId, selection, commitWith) {
      await migrate();
      return await database.kysely.transaction().execute(async (transaction) => {
        const replayId = await startReplay(transaction, accountId, endpointId, selection);
        if (replayId !== undefined) await commitWith(transaction);
        return replayId;
      });
    },
    sendTest: (accountId, endpointId, kind) =>
      sendTestEvent({ database, box, networks, clock }, accountId, endpointId, kind),
  };
}

async function settleWithin(work: Promise<unknown>, ms: number): Promise<void> {
  const settled = new AbortController();
  const ignore = () => undefined;
  await Promise.race([
    work.catch(ignore).finally(() => settled.abort()),
    setTimeout(ms, undefined, { signal: settled.signal }).catch(ignore),
  ]);
}
