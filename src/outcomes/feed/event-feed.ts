import { setTimeout as delay } from 'node:timers/promises';
import { tryLockRecordedWindows } from '../../base/database/advisory-locks.ts';
import type { Database, Kysely } from '../../base/database/open-database.ts';
import type { Log } from '../../base/values/log.ts';
import { WakeSignal } from '../../sending/queue/wake-signal.ts';
import {
  anyBehind,
  beginWindow,
  endWindow,
  ensureCursor,
  type FeedPosition,
  hasFreeProcess,
  joinLanes,
  lockCursor,
  moveCursor,
  ProcessEnded,
  repairRestoredCursors,
  splitLanes,
} from './feed-cursor-store.ts';
import { allLanes, countLaneRows, type FeedWindow, nextWindow } from './feed-window-store.ts';
import { throttled, unthrottled, type WorkThrottle } from './work-throttle.ts';

/** One half of lanes, which are bits; 0 for a single lane. */
function halfOf(lanes: number): number {
  const all = [...bitsOf(lanes)];
  return sum(all.slice(0, Math.floor(all.length / 2)));
}

/**
 * The lanes that get separate windows, after full ones: the one that most rows belong to, so that the others don't wait for
 * it, otherwise about half of the rows if another process can take them.
 * @param rows of each lane in the last window
 * @returns 0 for none
 */
function lanesToSplit(
  lanes: number,
  rows: ReadonlyMap<number, number>,
  isProcessFree: boolean,
): number {
  const byRows = [...bitsOf(lanes)].sort((a, b) => (rows.get(b) ?? 0) - (rows.get(a) ?? 0));
  const total = sum(rows.values());
  const [largest = 0] = byRows;
  if (byRows.length > 1 && (rows.get(largest) ?? 0) * 2 > total) return largest;
  if (!isProcessFree) return 0;
  // Every second one in this order has a little less than half of the rows.
  return sum(byRows.filter((_, index) => index % 2 === 1));
}

function* bitsOf(lanes: number): Generator<number> {
  for (let bit = 1; bit <= lanes; bit *= 2) if ((lanes & bit) !== 0) yield bit;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

/** Derives data from messages and events, exactly once per window. It reads only rows that are `inWindow`. */
export interface Follower {
  /** Key of its position in `feed_cursor`; never changes. */
  readonly name: string;
  /** Milliseconds between two windows that aren't full. Longer for what only people read, because a small window costs as much as a large one. */
  readonly restMs?: number;
  /**
   * Processes the window's rows. Its writes and the new position are committed together.
   * @param throttle runs each batch (`piecesOf`) of work that keeps the database busy
   */
  follow(transaction: Kysely, window: FeedWindow, throttle: WorkThrottle): Promise<void>;
}

export interface EventFeedDependencies {
  readonly database: Database;
  readonly log: Log;
  readonly followers: readonly Follower[];
  /** Rows per window; fewer for tests. */
  readonly windowRows?: number;
}

const maxWindowRows = 5_000;
const idleMs = 500;
/** Time between two polls while nothing happens in this process; other processes follow their own messages and events. */
const maxIdleMs = 2_500;
/** Shorter than the idle delay, so that the same process usually continues and others take over only if it doesn't. */
const defaultRestMs = 400;
/** For followers whose results only people read. */
export const readersRestMs = 1_900;
const maxPauseMs = 30_000;
/**
 * What ends a process soon ends the next one, too. So long after its start, a process records each window before it begins it, which
 * costs three more statements; later windows cost nothing more.
 */
const carefulMs = 60_000;
/** Windows that end their process before their lanes are halved, or wait if one is alone. */
const maxBegun = 2;
/** After so many pauses, lanes whose windows ended their process get another one. */
const pausesUntilAnother = 20;
/** A failure before any lanes were taken. */
const noLanes = 0;

/** The result of following some of a follower's lanes. */
interface Followed {
  /** Not to be taken again in this pass. */
  readonly done: number;
  readonly window?: FeedWindow | undefined;
}

/**
 * Passes every message and event to each follower once, in the commit order of each account. A position is committed with the
 * follower's writes, so a crash neither loses nor repeats anything.
 *
 * Accounts are in lanes. Usually all lanes of a follower have one position and share windows, so they cost as much as one. Where
 * one fails, or has most of the rows when windows are full, or another process has nothing to do, they are split, so that
 * each goes on alone; those that have caught up are joined again.
 */
export class EventFeed {
  readonly #dependencies: EventFeedDependencies;
  readonly #stop = new AbortController();
  /** By follower and lanes. */
  readonly #failures = new Map<string, Map<number, { count: number; until: number }>>();
  readonly #wake = new WakeSignal();
  #running: Promise<void> | undefined;
  /** Monotonic time. */
  #carefulUntil = 0;

  constructor(dependencies: EventFeedDependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    this.#carefulUntil = performance.now() + carefulMs;
    this.#running ??= this.#run();
  }

  /** Reports a new message or event, so that an idle feed polls within half a second. */
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
    for (;;) {
      const { rows, full } = await this.#pass(() => 0);
      if ((rows === 0 && !full) || this.#stop.signal.aborted) return;
    }
  }

  async #run(): Promise<void> {
    const { kysely } = this.#dependencies.database;
    let ready = false;
    let pauseMs = idleMs;
    while (!this.#stop.signal.aborted) {
      let found: PassResult = nothing;
      try {
        if (!ready) {
          for (const { name } of this.#dependencies.followers) await ensureCursor(kysely, name);
          if (await repairRestoredCursors(kysely))
            this.#dependencies.log.warn(
              'the database was restored; followers continue with new events',
            );
          ready = true;
        }
        found = await this.#pass(({ restMs = defaultRestMs }) => restMs);
      } catch (error) {
        this.#dependencies.log.warn({ err: error }, 'could not follow events; retrying');
      }
      if (found.full) continue;
      // A small window costs as much as a full one, so under load followers handle half a second's rows at once, in
      // whichever process.
      await delay(idleMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      const woken = await this.#wake.wait(pauseMs - idleMs);
      pauseMs = found.rows > 0 || woken ? idleMs : Math.min(pauseMs * 2, maxIdleMs);
    }
  }

  /** Runs one window for the rested lanes of each follower. */
  async #pass(restOf: (follower: Follower) => number): Promise<PassResult> {
    const { database, followers } = this.#dependencies;
    const names = followers.map(({ name }) => name);
    if (!(await anyBehind(database.followKysely, names, followers.map(restOf)))) return nothing;
    const passed = { rows: 0, full: false };
    let last: FeedWindow | undefined;
    for (const follower of followers) {
      let done = 0;
      while (done !== allLanes) {
        if (this.#stop.signal.aborted) return nothing;
        const followed = await this.#follow(follower, restOf(follower), done, last);
        if (followed === undefined) break;
        done |= followed.done;
        last = followed.window ?? last;
        passed.rows = Math.max(passed.rows, followed.window?.rows ?? 0);
        passed.full ||= followed.window?.full === true;
      }
    }
    return passed;
  }

  /**
   * Advances the lanes of a follower that are furthest behind by one window.
   * @param rest min rest in milliseconds
   * @param done lanes that had a window in this pass
   * @param last window of other lanes or of another follower in this pass
   * @returns undefined if there is nothing to take
   */
  async #follow(
    follower: Follower,
    rest: number,
    done: number,
    last: FeedWindow | undefined,
  ): Promise<Followed | undefined> {
    const failures = this.#failures.get(follower.name);
    const now = performance.now();
    const waiting = [...(failures ?? [])].flatMap(([failed, { until }]) =>
      until > now ? [failed] : [],
    );
    if (waiting.includes(noLanes)) return undefined;
    let lanes = noLanes;
    const wanted = { rest, done, waiting };
    const isCareful = now < this.#carefulUntil;
    const { kysely } = this.#dependencies.database;
    const mayBegin = (of: number, begun: number) =>
      begun <= maxBegun || (failures?.get(of)?.count ?? 0) >= pausesUntilAnother;
    try {
      const followed = await this.#dependencies.database.followKysely
        .transaction()
        .execute(async (transaction): Promise<Followed | undefined> => {
          let only: number | undefined;
          if (isCareful) {
            // Processes that start together would count each other's windows.
            if (!(await tryLockRecordedWindows(transaction, follower.name))) return undefined;
            only = await beginWindow(kysely, follower.name, wanted, mayBegin);
            if (only === undefined) return undefined;
          }
          const position = await lockCursor(transaction, follower.name, { ...wanted, only });
          if (position === undefined) return undefined;
          lanes = position.lanes;
          const found = await this.#advance(transaction, follower, position, rest, last);
          if (isCareful) await endWindow(transaction, follower.name, found.done);
          return found;
        });
      failures?.delete(lanes);
      failures?.delete(noLanes);
      return followed;
    } catch (error) {
      if (error instanceof ProcessEnded) {
        ({ lanes } = error);
        this.#carefulUntil = performance.now() + carefulMs;
      } else if (isCareful) await endWindow(kysely, follower.name, lanes).catch(() => undefined);
      return await this.#fail(follower, lanes, error);
    }
  }

  /** Follows up to the end of a window, and joins the lanes that it meets. */
  async #advance(
    transaction: Kysely,
    follower: Follower,
    position: FeedPosition,
    rest: number,
    last: FeedWindow | undefined,
  ): Promise<Followed> {
    const { name } = follower;
    const { windowRows = maxWindowRows } = this.#dependencies;
    let { from, lanes, next } = position;
    if (next === from) {
      if (!position.behind) lanes = await joinLanes(transaction, name, { from, lanes });
      next = null;
    }
    let window: FeedWindow | undefined;
    for (;;) {
      // Finding a window's end costs as much as processing a small one, so followers at the same position share it.
      const found =
        remainderOf(last, { from, lanes, next }) ??
        (await nextWindow(transaction, { from, lanes }, windowRows, next ?? undefined));
      if (found === undefined) break;
      window = found;
      const throttle = rest === 0 || found.full ? unthrottled : throttled(this.#stop.signal);
      if (found.rows > 0) await follower.follow(transaction, found, throttle);
      await moveCursor(transaction, name, found);
      if (found.until !== next) {
        if (found.full && position.behind) await spreadLanes(transaction, name, found);
        break;
      }
      const joined = await joinLanes(transaction, name, { from: next, lanes });
      if (joined === lanes) break;
      [from, lanes, next] = [next, joined, null];
    }
    return { done: position.lanes | lanes, window };
  }

  /** Halves lanes that failed, until the one that fails is alone. It waits; the others go on. */
  async #fail(follower: Follower, lanes: number, error: unknown): Promise<Followed | undefined> {
    const { database, log } = this.#dependencies;
    const { name } = follower;
    log.error({ err: error, follower: name, lanes }, 'a follower failed; retrying');
    const half = halfOf(lanes);
    const isSplit =
      half !== 0 &&
      (await database.kysely
        .transaction()
        .execute((transaction) => splitLanes(transaction, name, lanes, half))
        .catch(() => false));
    if (isSplit) return { done: 0 };
    const failures =
      this.#failures.get(name) ?? new Map<number, { count: number; until: number }>();
    this.#failures.set(name, failures);
    const count = (failures.get(lanes)?.count ?? 0) + 1;
    const pause = Math.min(500 * 2 ** count, maxPauseMs);
    failures.set(lanes, { count, until: performance.now() + pause });
    return lanes === noLanes ? undefined : { done: lanes };
  }
}

/** The largest number of rows of a window, and whether one was full. */
interface PassResult {
  readonly rows: number;
  readonly full: boolean;
}

const nothing: PassResult = { rows: 0, full: false };

/** The rest of a window from a position; undefined if the position isn't in it. */
function remainderOf(
  window: FeedWindow | undefined,
  { from, lanes, next }: Pick<FeedPosition, 'from' | 'lanes' | 'next'>,
): FeedWindow | undefined {
  if (window === undefined || window.lanes !== lanes) return undefined;
  const position = BigInt(from);
  const until = BigInt(window.until);
  const inside = BigInt(window.from) <= position && position < until;
  if (!inside || (next !== null && BigInt(next) < until)) return undefined;
  return { ...window, from };
}

/** After a second full window: splits off a lane that holds up the others, or lanes for another process. */
async function spreadLanes(transaction: Kysely, name: string, window: FeedWindow): Promise<void> {
  if (halfOf(window.lanes) === 0) return;
  const part = lanesToSplit(
    window.lanes,
    await countLaneRows(transaction, window),
    await hasFreeProcess(transaction, name),
  );
  if (part !== 0) await splitLanes(transaction, name, window.lanes, part);
}
