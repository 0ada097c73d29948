import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../foundation/database/open-database.ts';
import type { Log } from '../../foundation/log.ts';
import { WakeSignal } from '../../queue/wake-signal.ts';
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

/** Derives data from messages and events, exactly once per window. */
export interface Follower {
  /** Key of its position in `feed_cursor`; never changes. */
  readonly name: string;
  /**
   * Processes the window's rows. Its writes and the new position are committed together.
   * @param throttle runs each batch (`piecesOf`) of work that keeps the database busy
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

const maxWindowRows = 5_000;
const idleMs = 500;
/** Between two looks while nothing happens in this process; other processes follow their own messages and events. */
const maxIdleMs = 2_500;
/** Shorter than the idle delay, so that the same process usually continues and others take over only if it doesn't. */
const restMs = 400;
const maxPauseMs = 30_000;

/**
 * Passes every message and event to each follower once, in commit order. A follower runs on one node at a time and its
 * position is committed with its writes, so a crash neither loses nor repeats anything.
 */
export class EventFeed {
  readonly #dependencies: EventFeedDependencies;
  readonly #stop = new AbortController();
  readonly #failures = new Map<string, { count: number; until: number }>();
  readonly #wake = new WakeSignal();
  #running: Promise<void> | undefined;

  constructor(dependencies: EventFeedDependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Tells of a new message or event, so that an idle feed looks within half a second. */
  wake(): void {
    this.#wake.ring();
  }

  /** Stops after the current window. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake.ring();
    await this.#running;
  }

  /** Runs every follower that isn't running on another node until it is up to date; for tests and commands. */
  async catchUp(): Promise<void> {
    for (const { name } of this.#dependencies.followers)
      await ensureCursor(this.#dependencies.database.kysely, name);
    while ((await this.#pass(0)) > 0) if (this.#stop.signal.aborted) return;
  }

  async #run(): Promise<void> {
    const { kysely } = this.#dependencies.database;
    let ready = false;
    let pauseMs = idleMs;
    while (!this.#stop.signal.aborted) {
      let rows = 0;
      try {
        if (!ready) {
          for (const { name } of this.#dependencies.followers) await ensureCursor(kysely, name);
          if (await repairRestoredCursors(kysely))
            this.#dependencies.log.warn(
              'the database was restored; followers continue with new events',
            );
          ready = true;
        }
        rows = await this.#pass(restMs);
      } catch (error) {
        this.#dependencies.log.warn({ err: error }, 'could not follow events; retrying');
      }
      if (rows >= maxWindowRows) continue;
      // A small window costs as much as a full one, so under load followers handle half a second's rows at once, in
      // whichever process.
      await delay(idleMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      const woken = await this.#wake.wait(pauseMs - idleMs);
      pauseMs = rows > 0 || woken ? idleMs : Math.min(pauseMs * 2, maxIdleMs);
    }
  }

  /**
   * Runs one window for each rested follower.
   * @returns the rows of the largest window
   */
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
   * Advances a follower by one window.
   * @param rest min rest in milliseconds
   * @param last window of another follower in this pass
   * @returns undefined if there was nothing to do, or it failed
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
          // Finding a window's end costs as much as processing a small one, so followers at the same position share it.
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
        'a follower failed; retrying',
      );
      return undefined;
    }
  }
}

/** The rest of a window from a position; undefined if the position isn't in it. */
function restOf(window: FeedWindow | undefined, from: string): FeedWindow | undefined {
  if (window === undefined) return undefined;
  const position = BigInt(from);
  const inside = BigInt(window.from) <= position && position < BigInt(window.until);
  return inside ? { ...window, from } : undefined;
}
