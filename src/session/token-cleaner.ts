import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import { expiring, removeExpired } from './clean-tokens-store.ts';

const chunk = 1_000;
const pauseMilliseconds = 60_000;

/** Removes tokens, codes, sessions, links and guesses whose time is over, once a minute, in small chunks that are each a short statement of their own. */
export class TokenCleaner {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(database: Database, clock: Clock, log: Log) {
    this.#database = database;
    this.#clock = clock;
    this.#log = log;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.clean()
        .catch((error: unknown) => this.#log.warn({ err: error }, 'expired tokens stay for now'))
        .then(() => this.start());
    }, pauseMilliseconds);
    this.#timer.unref();
  }

  /** Resolves when the chunk under way is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** Removes everything that has expired by now. */
  async clean(): Promise<void> {
    for (const kind of expiring) {
      let removed = chunk;
      while (removed === chunk && !this.#stopped)
        removed = await removeExpired(this.#database, kind, chunk, this.#clock.offset);
    }
  }
}
