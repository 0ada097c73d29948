import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import { PeriodicTask } from '../foundation/periodic-task.ts';
import { expiringKinds, removeExpiredRows } from './expired-rows-store.ts';

const chunkSize = 1_000;
const cleanIntervalMs = 60_000;

/** Removes tokens, codes, sessions, links, guesses and entries of the audit log whose time is over, once a minute, in small chunks that are each a short statement of their own. */
export class ExpiredRowCleaner {
  readonly #database: Database;
  readonly #log: Log;
  readonly #auditDays: number;
  readonly #task = new PeriodicTask(cleanIntervalMs, () => this.clean(), {
    onError: (error) => this.#log.warn({ err: error }, 'expired tokens stay for now'),
  });
  #stopped = false;

  /** @param auditDays days that the audit log is kept; 0: for ever */
  constructor(database: Database, log: Log, auditDays: number) {
    this.#database = database;
    this.#auditDays = auditDays;
    this.#log = log;
  }

  start(): void {
    this.#task.start();
  }

  /** Resolves when the chunk under way is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#task.stop();
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
