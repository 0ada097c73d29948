import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../foundation/database/open-database.ts';
import type { Log } from '../../foundation/log.ts';
import {
  anyBehind,
  ensureCursor,
  type FeedWindow,
  lockCursor,
  moveCursor,
  nextWindow,
  repairRestoredCursors,
} from './event-feed-store.ts';
import { throttled, unthrottled, type WorkThrottle } from './work-throttle.ts';

/** Something that is written behind messages and events, exactly once for each window. */
export interface Follower {
  /** Names its place in `feed_cursor`; never changes. */
  readonly name: string;
  /**
   * Writes what the window's rows mean. Its writes and the new place are one commit.
   * @param throttle for work that keeps the database busy: it is done in pieces (`piecesOf`), each given to this
   */
  follow(
    transaction: Database['kysely'],
    window: FeedWindow,
    throttle: WorkThrottle,
  ): Promise<void>;
}

export interface EventFeedDependencies {
  readonly database: Database;
  readonly log: Log;
  readonly followers: readonly Follower[];
}

/** Rows of one window. */
const maxWindowRows = 5_000;
const idleMs = 500;
/** Less than that, so that the process which followed last goes on, and others take over where it does not. */
const restMs = 400;
const maxPauseMs = 30_000;

/**
 * Lets followers see every message and event once, in commit order, behind the statements that wrote them. Each follower
 * is at work on one node at a time; its place moves in the transaction of its writes, so that nothing is missed or counted
 * twice whatever happens to the process. One follower's fault does not stop the others.
 */
export class EventFeed {
  readonly #dependencies: EventFeedDependencies;
  readonly #stop = new AbortController();
  readonly #failures = new Map<string, { count: number; until: number }>();
  #running: Promise<void> | undefined;

  constructor(dependencies: EventFeedDependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends after the window that is under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Brings every follower up to now, where no other node is at it; for tests and commands. */
  async catchUp(): Promise<void> {
    for (const { name } of this.#dependencies.followers)
      await ensureCursor(this.#dependencies.database.kysely, name);
    while ((await this.#pass(0)) > 0) if (this.#stop.signal.aborted) return;
  }

  async #run(): Promise<void> {
    const { kysely } = this.#dependencies.database;
    let ready = false;
    while (!this.#stop.signal.aborted) {
      let rows = 0;
      try {
        if (!ready) {
          for (const { name } of this.#dependencies.followers) await ensureCursor(kysely, name);
          if (await repairRestoredCursors(kysely))
            this.#dependencies.log.warn('the database was restored; followers begin from here');
          ready = true;
        }
        rows = await this.#pass(restMs);
      } catch (error) {
        this.#dependencies.log.warn({ err: error }, 'events cannot be followed now; trying on');
      }
      // A small window costs as much as a full one: under load, followers take what comes in half a second together, in
      // whichever process.
      if (rows < maxWindowRows)
        await delay(idleMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  /** One window for each follower that has rested. @returns the rows of the largest */
  async #pass(rest: number): Promise<number> {
    const { database, followers } = this.#dependencies;
    const names = followers.map(({ name }) => name);
    if (!(await anyBehind(database.kysely, names, rest))) return 0;
    let maxRows = 0;
    let last: FeedWindow | undefined;
    for (const follower of followers) {
      if (this.#stop.signal.aborted) return 0;
      last = (await this.#follow(follower, rest, last)) ?? last;
      maxRows = Math.max(maxRows, last?.rows ?? 0);
    }
    return maxRows;
  }

  /**
   * Takes a follower on by one window.
   * @param rest milliseconds that it must have rested @param last of another one in this pass
   * @returns undefined where there was nothing to follow, or it failed
   */
  async #follow(
    follower: Follower,
    rest: number,
    last: FeedWindow | undefined,
  ): Promise<FeedWindow | undefined> {
    const failed = this.#failures.get(follower.name);
    if (failed !== undefined && failed.until > performance.now()) return undefined;
    try {
      const window = await this.#dependencies.database.kysely
        .transaction()
        .execute(async (transaction) => {
          const from = await lockCursor(transaction, follower.name, rest);
          if (from === undefined) return undefined;
          // Looking for its end costs as much as following a small one, so followers that stand together share it.
          const window = restOf(last, from) ?? (await nextWindow(transaction, from, maxWindowRows));
          if (window === undefined) return undefined;
          const hurry = rest === 0 || window.full;
          const throttle = hurry ? unthrottled : throttled(this.#stop.signal);
          await follower.follow(transaction, window, throttle);
          await moveCursor(transaction, follower.name, window);
          return window;
        });
      this.#failures.delete(follower.name);
      return window;
    } catch (error) {
      const count = (failed?.count ?? 0) + 1;
      const pause = Math.min(500 * 2 ** count, maxPauseMs);
      this.#failures.set(follower.name, { count, until: performance.now() + pause });
      this.#dependencies.log.error(
        { err: error, follower: follower.name },
        'a follower failed; trying on',
      );
      return undefined;
    }
  }
}

/** What a window has from a place on; undefined where the place does not lie in it. */
function restOf(window: FeedWindow | undefined, from: string): FeedWindow | undefined {
  if (window === undefined) return undefined;
  const place = BigInt(from);
  const inside = BigInt(window.from) <= place && place < BigInt(window.until);
  return inside ? { ...window, from } : undefined;
}
