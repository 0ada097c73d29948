import type { Clock } from '../foundation/clock.ts';
import { followDatabaseTime } from '../foundation/database/database-time-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import { removeOldIdempotencyKeys } from './idempotency-key-store.ts';
import { ensureMessagePartitions } from './message-partitions-store.ts';

const hour = 60 * 60 * 1000;
const minute = 60 * 1000;

interface UpkeepParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps partitions ahead of the time and old idempotency keys away: at the start and every hour. */
export class SubmissionUpkeep {
  readonly #parts: UpkeepParts;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
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
    const pause = (await this.#keepUp()) ? hour : minute;
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#run();
    }, pause);
    this.#timer.unref();
  }

  /** @returns false where it is to be tried again soon: messages must not meet a week without its partition */
  async #keepUp(): Promise<boolean> {
    const { database, clock, log } = this.#parts;
    try {
      await followDatabaseTime(database.pool, log);
      await ensureMessagePartitions(this.#parts);
      await removeOldIdempotencyKeys(database.kysely, clock.offset);
      return true;
    } catch (error) {
      log.warn({ err: error }, 'upkeep of the message tables failed; it is tried again soon');
      return false;
    }
  }
}
