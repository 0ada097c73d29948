import { syncIdClock } from '../../base/database/database-time-store.ts';
import type { Database } from '../../base/database/open-database.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { Log } from '../../base/values/log.ts';
import { ensureMessagePartitions } from '../../content/message/message-partitions-store.ts';
import { removeOldIdempotencyKeys } from './idempotency-key-store.ts';

const hourMs = 60 * 60 * 1000;
const minuteMs = 60 * 1000;
const clockCheckMs = 10 * 1000;

interface UpkeepDependencies {
  readonly database: Database;
  readonly log: Log;
}

/** Creates upcoming partitions and removes old idempotency keys, at startup and every hour; keeps the time of IDs right. */
export class SubmissionUpkeep {
  readonly #dependencies: UpkeepDependencies;
  readonly #task = new PeriodicTask(hourMs, () => this.#run(), {
    // Retry soon, so that no week starts without its partition.
    retryMs: minuteMs,
    onError: (error) =>
      this.#dependencies.log.warn(
        { err: error },
        'upkeep of the message tables failed; retrying soon',
      ),
  });

  /** A clock can be set at any time, and a message ID with a wrong time may have no partition. */
  readonly #clockTask = new PeriodicTask(
    clockCheckMs,
    () => syncIdClock(this.#dependencies.database.pool, this.#dependencies.log),
    // Whether the database can be reached is reported elsewhere.
    { onError: () => undefined },
  );

  constructor(dependencies: UpkeepDependencies) {
    this.#dependencies = dependencies;
  }

  /** Resolves once this week's partitions exist, or at once if the database is unavailable. */
  start(): Promise<void> {
    this.#task.start();
    this.#clockTask.start();
    return this.#task.runNow();
  }

  async stop(): Promise<void> {
    await this.#clockTask.stop();
    await this.#task.stop();
  }

  async #run(): Promise<void> {
    const { database, log } = this.#dependencies;
    await syncIdClock(database.pool, log);
    await ensureMessagePartitions(this.#dependencies);
    await removeOldIdempotencyKeys(database.kysely);
  }
}
