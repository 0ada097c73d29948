import { announceChange } from '../../base/database/announce.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { Log } from '../../base/values/log.ts';

/** Topic of `announceChange` for messages that other processes accepted. */
export const dueTopic = 'due messages';

/** NOTIFY takes a database-wide lock, and a poll finds the messages of all accounts. */
const intervalMs = 1_000;

/**
 * Tells the workers of other processes that messages are due, for a process without a worker. At most once a second; a
 * lost announcement only delays messages until the next poll.
 */
export class DueAnnouncer {
  readonly #database: Database;
  readonly #log: Log;
  #nextAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#log = log;
  }

  /** Announces committed messages. */
  announce(): void {
    if (this.#timer !== undefined) return;
    const waitMs = this.#nextAt - performance.now();
    if (waitMs <= 0) void this.#send();
    else this.#timer = setTimeout(() => void this.#send(), waitMs).unref();
  }

  async #send(): Promise<void> {
    this.#timer = undefined;
    this.#nextAt = performance.now() + intervalMs;
    try {
      await announceChange(this.#database.kysely, dueTopic, '*');
    } catch (error) {
      this.#log.debug({ err: error }, 'could not announce due messages');
    }
  }
}
