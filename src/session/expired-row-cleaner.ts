import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import { expiringKinds, removeExpiredRows } from './expired-rows-store.ts';

const chunkSize = 1_000;
const cleanIntervalMs = 60_000;

/**
 * Removes expired tokens, codes, sessions, links, guesses and audit log entries once a minute, in small chunks with
 * one short statement each.
 */
export class ExpiredRowCleaner {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #auditDays: number;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  /** @param auditDays days that the audit log is kept; 0: forever */
  constructor(database: Database, clock: Clock, log: Log, auditDays: number) {
    this.#database = database;
    this.#auditDays = auditDays;
    this.#clock = clock;
    this.#log = log;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.clean()
        .catch((error: unknown) =>
          this.#log.warn({ err: error }, 'could not remove expired tokens'),
        )
        .then(() => this.start());
    }, cleanIntervalMs);
    this.#timer.unref();
  }

  /** Resolves when the current chunk is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** Removes everything that has expired. */
  async clean(): Promise<void> {
    const options = { offset: this.#clock.offset, auditDays: this.#auditDays };
    for (const kind of expiringKinds) {
      let removed = chunkSize;
      while (removed === chunkSize && !this.#stopped)
        removed = await removeExpiredRows(this.#database, kind, chunkSize, options);
    }
  }
}
