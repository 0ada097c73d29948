import { setTimeout as delay } from 'node:timers/promises';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import { policies } from '../../base/fairness/policies.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import { suspectAfter } from '../../sending/queue/attempt.ts';
import { WakeSignal } from '../../sending/queue/wake-signal.ts';
import { accountEventsTopic } from './account-events.ts';
import { AccountTurns } from './account-turns.ts';
import {
  type DeliverWebhooksDependencies,
  deliverWebhooks,
  lanesPerLease,
} from './deliver-webhooks.ts';
import { claimDeliveries, type LeasedDeliveries, resumeNext } from './delivery-store.ts';
import { listResuming } from './endpoint-store.ts';
import { fanOutNext, findWebhookWork } from './fan-out-store.ts';
import { selectReplayed } from './replay-store.ts';

export interface WebhookWorkerDependencies extends DeliverWebhooksDependencies {
  readonly log: Log;
  readonly changes: Pick<ChangeListener, 'subscribe'>;
}

/** Announces work of an account that a person has asked for. */
export const webhookWorkTopic = 'webhook work';

/** An endpoint's share of those of its account, so that a slow one leaves room for the others. */
const maxPerEndpoint = 4;
/** A lease is for about this much work of each lane, and what is due of a slow endpoint isn't leased before there is a lane for it. */
const leasedWorkMs = 100;
const maxLeasedMessages = 32;
/** Endpoints whose speed is known. */
const maxPaces = 10_000;
/** Between looks for the work of all accounts, such as retries; new events are announced. */
const pollMs = 2_000;
const minPollMs = 250;
/** Another process is claiming the same events. */
const busyPauseMs = 50;

/**
 * Writes events to the logs of endpoints and delivers them, in turns of accounts and of their endpoints, so that one that floods, is
 * slow or fails slows down itself.
 */
export class WebhookWorker {
  readonly #dependencies: WebhookWorkerDependencies;
  readonly #wake = new WakeSignal();
  readonly #stopping = new AbortController();
  readonly #alone = new AloneGate();
  /** Milliseconds that recent requests to an endpoint took. */
  readonly #paces = new Map<string, number>();
  /** Accounts that may have work, or `*`. */
  #announced = new Set<string>();
  readonly #pieces: AccountTurns;
  readonly #deliveries: AccountTurns;
  #loop: Promise<void> | undefined;

  constructor(dependencies: WebhookWorkerDependencies) {
    this.#dependencies = dependencies;
    const { log } = dependencies;
    this.#pieces = new AccountTurns({
      policy: policies.webhookPieces,
      maxPerKey: 1,
      claim: async (accountId) => ((await this.#runPiece(accountId)) ? async () => {} : undefined),
      onError: (error, accountId) =>
        log.warn({ err: error, accountId }, 'could not prepare webhooks; retrying'),
    });
    this.#deliveries = new AccountTurns({
      policy: policies.webhooks,
      maxPerKey: maxPerEndpoint,
      claim: (accountId, endpointId) => this.#claim(accountId, endpointId),
      onError: (error, accountId, endpointId) =>
        log.warn({ err: error, accountId, endpointId }, 'could not deliver webhooks; retrying'),
    });
    for (const topic of [accountEventsTopic, webhookWorkTopic])
      dependencies.changes.subscribe(topic, (accountIds) => {
        if (this.#loop === undefined) return;
        for (const accountId of accountIds.split(' ')) this.#announced.add(accountId);
        this.#wake.ring();
      });
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Waits for requests in flight. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.ring();
    await this.#loop;
    await Promise.all([this.#pieces.stop(), this.#deliveries.stop()]);
  }

  async #run(): Promise<void> {
    let nextPoll = 0;
    let isFailing = false;
    while (!this.#stopping.signal.aborted) {
      const announced = this.#announced;
      this.#announced = new Set();
      const isPoll = performance.now() >= nextPoll || announced.has('*');
      if (isPoll) nextPoll = performance.now() + pollMs;
      try {
        await this.#look(isPoll ? undefined : announced);
        isFailing = false;
      } catch (error) {
        if (!isFailing)
          this.#dependencies.log.warn({ err: error }, 'could not look for webhooks; retrying');
        isFailing = true;
      }
      await delay(minPollMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      await this.#wake.wait(Math.max(0, nextPoll - performance.now()));
    }
  }

  async #look(announced: ReadonlySet<string> | undefined): Promise<void> {
    const { kysely } = this.#dependencies.database;
    const { accountIds, due } = await findWebhookWork(kysely, announced);
    for (const accountId of accountIds) this.#pieces.add(accountId, accountId);
    for (const { accountId, endpointId } of due) this.#deliveries.add(accountId, endpointId);
  }

  /** @returns true if the account may have more */
  async #runPiece(accountId: AccountId): Promise<boolean> {
    const { kysely } = this.#dependencies.database;
    const written = await fanOutNext(kysely, accountId);
    for (const endpointId of written.endpointIds) this.#deliveries.add(accountId, endpointId);
    let isResuming = false;
    for (const endpointId of await listResuming(kysely, accountId))
      if (await resumeNext(kysely, accountId, endpointId)) isResuming = true;
      else this.#deliveries.add(accountId, endpointId);
    const replayed = await selectReplayed(kysely, accountId);
    for (const endpointId of replayed.endpointIds) this.#deliveries.add(accountId, endpointId);
    return written.mayHaveMore || isResuming || replayed.mayHaveMore;
  }

  async #claim(
    accountId: AccountId,
    endpointId: string,
  ): Promise<(() => Promise<void>) | undefined> {
    const { database, tracing } = this.#dependencies;
    const pace = this.#paces.get(endpointId) ?? leasedWorkMs;
    const claimed = await claimDeliveries(
      database.followKysely,
      { accountId, endpointId },
      {
        maxMessages: Math.min(maxLeasedMessages, lanesPerLease * Math.ceil(leasedWorkMs / pace)),
        traced: tracing !== undefined,
      },
    );
    if (claimed === 'none') return undefined;
    if (claimed === 'busy') return () => delay(busyPauseMs);
    return () => this.#deliver(claimed);
  }

  #deliver(lease: LeasedDeliveries): Promise<void> {
    const work = async () => {
      const pace = await deliverWebhooks(this.#dependencies, lease, this.#stopping.signal);
      if (this.#paces.size >= maxPaces) this.#paces.clear();
      if (pace !== undefined) this.#paces.set(lease.endpointId, Math.max(1, pace));
    };
    return lease.orphaned < suspectAfter ? this.#alone.together(work) : this.#alone.alone(work);
  }
}

/** Runs work at the same time, except some that runs alone. */
class AloneGate {
  readonly #together = new Set<Promise<void>>();
  #alone: Promise<void> = Promise.resolve();

  async together(work: () => Promise<void>): Promise<void> {
    for (let awaited: unknown; awaited !== this.#alone; ) {
      awaited = this.#alone;
      await awaited;
    }
    const running = work();
    this.#together.add(running);
    await running.finally(() => this.#together.delete(running));
  }

  async alone(work: () => Promise<void>): Promise<void> {
    const before = this.#alone;
    const running = before.then(() => Promise.allSettled(this.#together)).then(work);
    this.#alone = running.catch(() => undefined);
    await running;
  }
}
