import { syncIdClock } from '../foundation/database/database-time-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import { PeriodicTask } from '../foundation/periodic-task.ts';
import { ensureMessagePartitions } from '../message/message-partitions-store.ts';
import { removeOldIdempotencyKeys } from './idempotency-key-store.ts';

const hourMs = 60 * 60 * 1000;
const minuteMs = 60 * 1000;

interface UpkeepDependencies {
  readonly database: Database;
  readonly log: Log;
}

/** Keeps partitions ahead of the time and old idempotency keys away: at the start and every hour. */
export class SubmissionUpkeep {
  readonly #dependencies: UpkeepDependencies;
  readonly #task = new PeriodicTask(hourMs, () => this.#run(), {
    // Soon, since messages must not meet a week without its partition.
    retryMs: minuteMs,
    onError: (error) =>
      this.#dependencies.log.warn(
        { err: error },
        'upkeep of the message tables failed; it is tried again soon',
      ),
  });

  constructor(dependencies: UpkeepDependencies) {
    this.#dependencies = dependencies;
  }

  /** Resolves once the partitions of this week are there, or at once where the database is away. */
  start(): Promise<void> {
    this.#task.start();
    return this.#task.runNow();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  async #run(): Promise<void> {
    const { database, log } = this.#dependencies;
    await syncIdClock(database.pool, log);
    await ensureMessagePartitions(this.#dependencies);
    await removeOldIdempotencyKeys(database.kysely);
  }
}
