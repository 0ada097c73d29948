import { Logger, type Runner, run, runMigrations } from 'graphile-worker';
import type { Follower } from '../feedback/feed/event-feed.ts';
import type { Clock } from '../foundation/clock.ts';
import type { CommitWith } from '../foundation/database/commit-with.ts';
import { type Database, openDatabase } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { PublicNetworks } from '../foundation/network/public-networks.ts';
import { PeriodicTask } from '../foundation/periodic-task.ts';
import { deliverWebhooks, type WebhookJob } from './deliver-webhooks.ts';
import {
  enqueuePending,
  enqueueWindow,
  logRanges,
  removeOldDeliveries,
  replayDelivery,
  replayRange,
} from './delivery-store.ts';
import { hasAnyEndpoint, unpauseEndpoint } from './endpoint-store.ts';
import { resumeAbandoned } from './resume-abandoned.ts';
import { SecretBox } from './secret-box.ts';
import { JobShares } from './share-jobs.ts';

/** Of its place in `feed_cursor`. */
export const webhookFollowerName = 'webhook';

/** Jobs that a process runs at once: most of their time goes by at endpoints. */
const concurrency = 16;
/** Connections that find and end them. */
const jobConnections = 6;
const minuteMs = 60 * 1000;
const hourMs = 60 * minuteMs;

export interface WebhookDependencies {
  readonly database: Database;
  readonly log: Log;
  readonly key: MasterKey;
  readonly clock: Clock;
  /** Networks that may be asked although they are not public. */
  readonly allowedNetworks: readonly string[];
}

/** Webhooks as the rest of the service sees them. */
export interface Webhooks {
  /** For the stores of endpoints, which hold secrets. */
  readonly box: SecretBox;
  readonly networks: PublicNetworks;
  readonly follower: Follower;
  /** Begins to deliver where any account has an endpoint; else with the first event of one. */
  start(): Promise<void>;
  /** Finishes the requests under way. */
  stop(): Promise<void>;
  /**
   * Lets a paused endpoint's events go.
   * @param commitWith what is committed with it
   * @returns false where there is no such endpoint
   */
  resume(accountId: AccountId, endpointId: string, commitWith?: CommitWith): Promise<boolean>;
  /**
   * Delivers again: one event, or all of a time. Those of a time go stretch by stretch, each committed by itself; where it
   * breaks off, asking once more does the rest.
   * @param commitWith what is committed at its end, told how many events there are
   * @returns how many events
   */
  replay: (
    accountId: AccountId,
    endpointId: string,
    which: { readonly eventId: string } | { readonly from: Date; readonly until: Date },
    commitWith?: (transaction: Database['kysely'], events: number) => Promise<void>,
  ) => Promise<number>;
}

/** Connects the parts of webhooks; the jobs run on a few connections of their own. */
export function createWebhooks(dependencies: WebhookDependencies): Webhooks {
  const { database, log } = dependencies;
  const box = new SecretBox(dependencies.key);
  const networks = new PublicNetworks(dependencies.allowedNetworks);
  let jobs: Promise<void> | undefined;
  let migrated: Promise<void> | undefined;
  let jobDatabase: Database | undefined;
  let runner: Runner | undefined;
  const upkeep = [
    new PeriodicTask(minuteMs, () =>
      resumeAbandoned(database.kysely).catch((error: unknown) =>
        log.warn({ err: error }, 'abandoned webhook deliveries cannot be looked for now'),
      ),
    ),
    new PeriodicTask(hourMs, () =>
      removeOldDeliveries(database.kysely).catch((error: unknown) =>
        log.warn({ err: error }, 'old webhook deliveries cannot be removed now'),
      ),
    ),
  ];
  const logger = new Logger(() => (level, message, meta) => {
    log.debug({ level, ...meta }, message);
  });
  const migrate = (): Promise<void> => {
    migrated ??= runMigrations({ pgPool: database.pool, logger }).catch((error: unknown) => {
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
      events: shares.events,
      forbiddenFlags: shares.forbiddenFlags,
      noHandleSignals: true,
      pollInterval: 1_000,
      parsedCronItems: [],
      logger,
      taskList: {
        webhook: (payload) =>
          deliverWebhooks(
            { database, box, networks, clock: dependencies.clock },
            payload as WebhookJob,
          ),
      },
    });
    for (const task of upkeep) task.start();
  };
  const ensureJobs = (): Promise<void> => {
    jobs ??= startJobs().catch(async (error: unknown) => {
      jobs = undefined;
      // The next try opens connections of its own.
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
        log.warn({ err: error }, 'webhooks cannot be delivered now; with the next event they can');
      }
    },
    async stop() {
      await jobs?.catch(() => undefined);
      for (const task of upkeep) await task.stop();
      await runner?.stop();
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
    async replay(accountId, endpointId, which, commitWith) {
      await migrate();
      const { kysely } = database;
      let events = 0;
      if (!('eventId' in which))
        for await (const range of logRanges(kysely, accountId, endpointId))
          events += await replayRange(kysely, accountId, endpointId, which, range);
      await kysely.transaction().execute(async (transaction) => {
        if ('eventId' in which)
          events = await replayDelivery(transaction, accountId, endpointId, which.eventId);
        await commitWith?.(transaction, events);
      });
      return events;
    },
  };
}
