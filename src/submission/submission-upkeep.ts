import { syncIdClock } from '../foundation/database/database-time-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
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
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(dependencies: UpkeepDependencies) {
    this.#dependencies = dependencies;
  }

  /** Resolves once the partitions of this week are there, or at once where the database is away. */
  start(): Promise<void> {
    this.#running = this.#run();
    return this.#running;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    const pause = (await this.#runUpkeep()) ? hourMs : minuteMs;
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#run();
    }, pause);
    this.#timer.unref();
  }

  /** @returns false where it is to be tried again soon: messages must not meet a week without its partition */
  async #runUpkeep(): Promise<boolean> {
    const { database, log } = this.#dependencies;
    try {
      await syncIdClock(database.pool, log);
      await ensureMessagePartitions(this.#dependencies);
      await removeOldIdempotencyKeys(database.kysely);
      return true;
    } catch (error) {
      log.warn({ err: error }, 'upkeep of the message tables failed; it is tried again soon');
      return false;
    }
  }
}
