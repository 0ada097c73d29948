import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely } from '../../base/database/open-database.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import { trimTestMessages } from './delete-old-store.ts';

/** How long to wait for followers, which read messages before they are deleted, or for the database. */
const pauseMs = 1_000;

/** Keeps accounts that send test messages at those that an account can have, one account after another. */
export class TestTrimmer {
  readonly #kysely: Kysely;
  readonly #log: Log;
  readonly #waiting = new Set<AccountId>();
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(kysely: Kysely, log: Log) {
    this.#kysely = kysely;
    this.#log = log;
  }

  /** Deletes in the background what these accounts have too many of. */
  trim(accountIds: Iterable<AccountId>): void {
    for (const accountId of accountIds) this.#waiting.add(accountId);
    this.#running ??= this.#run();
  }

  /** What is left is deleted with the next message, or within an hour. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#waiting.size > 0 && !signal.aborted) {
      const round = [...this.#waiting];
      this.#waiting.clear();
      for (const accountId of round)
        if (!(await this.#trimOne(accountId))) this.#waiting.add(accountId);
      if (this.#waiting.size > 0)
        await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    this.#running = undefined;
  }

  /** @returns whether nothing is left to delete */
  async #trimOne(accountId: AccountId): Promise<boolean> {
    try {
      while (!this.#stopping.signal.aborted) {
        const { found, deleted } = await trimTestMessages(this.#kysely, accountId);
        if (found === 0 || deleted === 0) return found === 0;
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'could not delete old test messages');
    }
    return false;
  }
}
