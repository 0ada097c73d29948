import { atEndOfTurn } from '../fairness/fair-queue.ts';

/** Commits a group of items; results are in the order of the items. */
export type CommitGroup<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

export interface GroupCommitOptions<Item> {
  /** Max items per group. */
  readonly max: number;
  /** Max concurrent groups. */
  readonly concurrency: number;
  /** Starts a group of this size at once if possible; undefined: groups start after the event loop turn. */
  readonly enough?: number | undefined;
  /** Max waiting items; beyond it, `add` returns undefined. */
  readonly waiting: number;
  /** Lets a group grow while the process is busy. Without it, a group starts after the turn that began it. */
  readonly linger?: Linger;
  /** Additional limits by weight, such as bytes. */
  readonly weight?: {
    readonly of: (item: Item) => number;
    /** Max weight per group; a heavier item forms its own group. */
    readonly max: number;
    /** Max waiting weight. */
    readonly waiting: number;
  };
}

/**
 * A group starts after this many event loop turns without a new item. Turns of a busy process are long, so groups get large;
 * those of an idle one take microseconds.
 */
export interface Linger {
  readonly quietTurns: number;
  /** Max delay, regardless of new items. */
  readonly maxMs: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly weight: number;
  readonly receiver: Receiver<Result>;
  /** Among the receiver's items. */
  readonly place: number;
}

/** Gets the outcome of an item. */
interface Receiver<Result> {
  resolve(result: Result, place: number): void;
  reject(error: unknown, place: number): void;
}

/** The error of an item that was added with others. */
export class CommitFailure {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** Resolves once all of its items have an outcome. */
class Gathering<Result> implements Receiver<Result> {
  readonly outcomes: (Result | CommitFailure | undefined)[];
  #left: number;
  readonly #done: () => void;

  constructor(count: number, done: () => void) {
    this.outcomes = new Array(count).fill(undefined);
    this.#left = count;
    this.#done = done;
  }

  resolve(result: Result, place: number): void {
    this.outcomes[place] = result;
    this.skip();
  }

  reject(error: unknown, place: number): void {
    this.outcomes[place] = new CommitFailure(error);
    this.skip();
  }

  skip(): void {
    this.#left -= 1;
    if (this.#left === 0) this.#done();
  }
}

/**
 * Group commit: items that arrive together share one statement and therefore one flush to disk. A group starts as soon as a
 * slot is free, so an idle server adds no delay and a busy one needs few flushes.
 */
export class GroupCommit<Item, Result> {
  readonly #commit: CommitGroup<Item, Result>;
  readonly #options: GroupCommitOptions<Item>;
  #waiting: Waiting<Item, Result>[] = [];
  #waitingWeight = 0;
  #running = 0;
  #scheduled = false;
  #held = false;
  #idle: (() => void)[] = [];

  constructor(commit: CommitGroup<Item, Result>, options: GroupCommitOptions<Item>) {
    this.#commit = commit;
    this.#options = options;
  }

  /** Number of waiting items. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Number of running groups. */
  get running(): number {
    return this.#running;
  }

  /**
   * Adds an item to the next group.
   * @returns the item's result once its group is committed, or undefined if too many are waiting
   */
  add(item: Item): Promise<Result> | undefined {
    const weight = this.#weigh(item);
    if (weight === undefined) return undefined;
    return new Promise((resolve, reject) => {
      this.#enqueue(item, weight, { resolve, reject }, 0);
      this.#runOrSchedule();
    });
  }

  /**
   * Adds items with one promise for all of them, which costs less than one each.
   * @returns the result or error of each item, in order; undefined if too many were waiting
   */
  addAll(items: readonly Item[]): Promise<readonly (Result | CommitFailure | undefined)[]> {
    if (items.length === 0) return Promise.resolve([]);
    return new Promise((resolve) => {
      const gathering: Gathering<Result> = new Gathering(items.length, () =>
        resolve(gathering.outcomes),
      );
      items.forEach((item, place) => {
        const weight = this.#weigh(item);
        if (weight === undefined) gathering.skip();
        else this.#enqueue(item, weight, gathering, place);
      });
      this.#runOrSchedule();
    });
  }

  /** @returns undefined if there is no room for the item */
  #weigh(item: Item): number | undefined {
    const { waiting, weight: limits } = this.#options;
    if (this.#waiting.length >= waiting) return undefined;
    if (limits === undefined) return 0;
    const weight = limits.of(item);
    const fits = this.#waiting.length === 0 || this.#waitingWeight + weight <= limits.waiting;
    return fits ? weight : undefined;
  }

  #enqueue(item: Item, weight: number, receiver: Receiver<Result>, place: number): void {
    this.#waitingWeight += weight;
    this.#waiting.push({ item, weight, receiver, place });
  }

  #runOrSchedule(): void {
    if (this.#isEnough()) void this.#run();
    else if (this.#waiting.length > 0) this.#schedule();
  }

  /** Items that the work adds share a group; without this, the first of them start one as soon as there are enough. */
  addTogether(work: () => void): void {
    this.#held = true;
    try {
      work();
    } finally {
      this.#held = false;
      if (this.#isEnough()) void this.#run();
    }
  }

  /** A turn that reads a hundred requests is long, so the first of them are committed before it ends. */
  #isEnough(): boolean {
    const { enough, concurrency } = this.#options;
    if (this.#held) return false;
    return enough !== undefined && this.#waiting.length >= enough && this.#running < concurrency;
  }

  /** Resolves when nothing is waiting or running. */
  drain(): Promise<void> {
    if (this.#running === 0 && this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Groups start after the current event loop turn, so all requests read in that turn share one. */
  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#options.concurrency) return;
    this.#scheduled = true;
    const { linger } = this.#options;
    if (linger === undefined) atEndOfTurn(() => this.#start());
    else this.#linger(linger, performance.now() + linger.maxMs, 0, this.#waiting.length);
  }

  #start(): void {
    this.#scheduled = false;
    while (this.#running < this.#options.concurrency && this.#waiting.length > 0) void this.#run();
  }

  /** Checks once per turn whether items arrived since. */
  #linger(linger: Linger, until: number, quiet: number, before: number): void {
    setImmediate(() => {
      const count = this.#waiting.length;
      const nowQuiet = count === before ? quiet + 1 : 0;
      const enough = nowQuiet >= linger.quietTurns || count >= this.#options.max;
      if (enough || performance.now() >= until) this.#start();
      else this.#linger(linger, until, nowQuiet, count);
    });
  }

  #take(): Waiting<Item, Result>[] {
    const { max, weight: limits } = this.#options;
    let count = 0;
    let weight = 0;
    for (const waiting of this.#waiting) {
      if (count >= max) break;
      if (limits !== undefined && count > 0 && weight + waiting.weight > limits.max) break;
      weight += waiting.weight;
      count += 1;
    }
    this.#waitingWeight -= weight;
    return this.#waiting.splice(0, count);
  }

  async #run(): Promise<void> {
    const group = this.#take();
    this.#running += 1;
    try {
      const results = await this.#commit(group.map((waiting) => waiting.item));
      group.forEach((waiting, index) => {
        waiting.receiver.resolve(results[index] as Result, waiting.place);
      });
    } catch (error) {
      for (const { receiver, place } of group) receiver.reject(error, place);
    } finally {
      this.#running -= 1;
      if (this.#waiting.length > 0) this.#schedule();
      else if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }
}
