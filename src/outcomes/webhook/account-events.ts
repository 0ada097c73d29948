import { announceChange } from '../../base/database/announce.ts';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Database } from '../../base/database/open-database.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import type { Follower } from '../feed/event-feed.ts';
import {
  type EventPosition,
  type EventRead,
  listAccountIds,
  newestEventPosition,
  readAccountEvents,
  removeOldEventPages,
  writeEventPages,
} from './account-event-store.ts';

/** Announces new events, with the accounts that have them. */
export const accountEventsTopic = 'account events';
/** Accounts named in a notification; with more, every reader looks. */
const maxNamedAccounts = 100;
const hourMs = 60 * 60 * 1_000;

/** Writes each account's events in commit order, and announces them to the readers of all nodes. */
export const followAccountEvents: Follower = {
  name: 'account events',
  async follow(transaction, window) {
    const accounts = await writeEventPages(transaction, window);
    if (accounts.length === 0) return;
    const key = accounts.length > maxNamedAccounts ? '*' : accounts.join(' ');
    await announceChange(transaction, accountEventsTopic, key);
  },
};

export interface AccountEventsDependencies {
  readonly database: Database;
  readonly changes: Pick<ChangeListener, 'subscribe'>;
  readonly log: Log;
}

/**
 * Reads the events of accounts for many readers. One notification wakes those of an account, and readers at the same
 * position share a read.
 */
export class AccountEvents {
  readonly #listeners = new Map<AccountId, Set<() => void>>();
  readonly #reads = new Map<string, Promise<EventRead>>();
  readonly #latest = new Map<AccountId, Promise<EventPosition>>();
  readonly #cleanup: PeriodicTask;

  constructor({ database, changes, log }: AccountEventsDependencies) {
    changes.subscribe(accountEventsTopic, (key) => this.#wake(key));
    this.#cleanup = new PeriodicTask(
      hourMs,
      async () => {
        for (const accountId of await listAccountIds(database.kysely))
          await removeOldEventPages(database.kysely, accountId);
      },
      {
        onError: (error) => log.warn({ err: error }, 'could not remove old events of accounts'),
      },
    );
  }

  /** Starts removing events past their retention. */
  start(): void {
    this.#cleanup.start();
  }

  stop(): Promise<void> {
    return this.#cleanup.stop();
  }

  /** Calls `listener` after new events of an account, until the returned function is called. */
  listen(accountId: AccountId, listener: () => void): () => void {
    const own = this.#listeners.get(accountId) ?? new Set();
    this.#listeners.set(accountId, own.add(listener));
    return () => {
      own.delete(listener);
      if (own.size === 0 && this.#listeners.get(accountId) === own)
        this.#listeners.delete(accountId);
    };
  }

  /**
   * Up to `limit` events after a position.
   * @param after undefined for the oldest event within retention
   */
  read(
    database: Pick<Database, 'kysely'>,
    accountId: AccountId,
    after: EventPosition | undefined,
    limit: number,
  ): Promise<EventRead> {
    const key = `${accountId} ${after?.page} ${after?.index} ${limit}`;
    return share(this.#reads, key, () =>
      readAccountEvents(database.kysely, accountId, after, limit),
    );
  }

  /** The position after an account's newest event. */
  latest(database: Pick<Database, 'kysely'>, accountId: AccountId): Promise<EventPosition> {
    return share(this.#latest, accountId, () => newestEventPosition(database.kysely, accountId));
  }

  #wake(key: string): void {
    // A read that began before these events would hide them from the readers that are woken.
    this.#reads.clear();
    this.#latest.clear();
    const accounts = key === '*' ? [...this.#listeners.keys()] : (key.split(' ') as AccountId[]);
    for (const accountId of accounts)
      for (const listener of [...(this.#listeners.get(accountId) ?? [])]) listener();
  }
}

/** Reads once for all who ask while it runs, unless the running reads were cleared. */
function share<Key, Result>(
  running: Map<Key, Promise<Result>>,
  key: Key,
  start: () => Promise<Result>,
): Promise<Result> {
  const known = running.get(key);
  if (known !== undefined) return known;
  const read = start().finally(() => {
    if (running.get(key) === read) running.delete(key);
  });
  running.set(key, read);
  return read;
}
