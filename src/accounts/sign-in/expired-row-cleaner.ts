import type { Database } from '../../base/database/open-database.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { Log } from '../../base/values/log.ts';
import { expiringKinds, removeExpiredRows } from './expired-rows-store.ts';

const chunkSize = 1_000;
const cleanIntervalMs = 60_000;

/**
 * Removes expired tokens, codes, sessions, links, guesses and audit log entries once a minute, in small chunks so that
 * each statement is short.
 */
export class ExpiredRowCleaner {
  readonly #database: Database;
  readonly #log: Log;
  readonly #auditDays: number;
  readonly #task = new PeriodicTask(cleanIntervalMs, () => this.clean(), {
    onError: (error) => this.#log.warn({ err: error }, 'could not remove expired rows; will retry'),
  });
  #stopped = false;

  /** @param auditDays days that the audit log is kept; 0: forever */
  constructor(database: Database, log: Log, auditDays: number) {
    this.#database = database;
    this.#auditDays = auditDays;
    this.#log = log;
  }

  start(): void {
    this.#task.start();
  }

  /** Resolves once the current chunk is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#task.stop();
  }

  /** Removes all expired rows. */
  async clean(): Promise<void> {
    const options = { auditDays: this.#auditDays };
    for (const kind of expiringKinds) {
      let removed = chunkSize;
      while (removed === chunkSize && !this.#stopped)
        removed = await removeExpiredRows(this.#database, kind, chunkSize, options);
    }
  }
}
