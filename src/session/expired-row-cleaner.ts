import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import { expiringKinds, removeExpiredRows } from './expired-rows-store.ts';

const chunkSize = 1_000;
const cleanIntervalMs = 60_000;

/** Removes tokens, codes, sessions, links, guesses and entries of the audit log whose time is over, once a minute, in small chunks that are each a short statement of their own. */
export class ExpiredRowCleaner {
  readonly #database: Database;
  readonly #log: Log;
  readonly #auditDays: number;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  /** @param auditDays days that the audit log is kept; 0: for ever */
  constructor(database: Database, log: Log, auditDays: number) {
    this.#database = database;
    this.#auditDays = auditDays;
    this.#log = log;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.clean()
        .catch((error: unknown) => this.#log.warn({ err: error }, 'expired tokens stay for now'))
        .then(() => this.start());
    }, cleanIntervalMs);
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
    const options = { auditDays: this.#auditDays };
    for (const kind of expiringKinds) {
      let removed = chunkSize;
      while (removed === chunkSize && !this.#stopped)
        removed = await removeExpiredRows(this.#database, kind, chunkSize, options);
    }
  }
}
