import type { Clock } from '../../foundation/clock.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { Log } from '../../foundation/log.ts';
import { removeEndedSuppressions } from '../suppression/suppression-store.ts';
import { dropOldPartitions } from './drop-partitions-store.ts';
import { applyRetentionRules } from './retention-store.ts';

const hour = 60 * 60 * 1000;

/** Lets go of what is no longer to be kept, every hour. */
export class PrivacyUpkeep {
  readonly #parts: { readonly database: Database; readonly clock: Clock; readonly log: Log };
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: { readonly database: Database; readonly clock: Clock; readonly log: Log }) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.run());
    }, hour);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** One round; a fault is logged and left to the next. */
  async run(): Promise<void> {
    const { database, clock, log } = this.#parts;
    try {
      await removeEndedSuppressions(database.kysely, clock.offset);
      await applyRetentionRules(database.kysely, clock.offset);
      await dropOldPartitions(database, clock.now(), log);
    } catch (error) {
      log.warn({ err: error }, 'letting go of old data failed; it is tried again in an hour');
    }
  }
}
