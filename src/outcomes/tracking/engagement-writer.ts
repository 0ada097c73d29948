import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import { maxEngagements } from '../event-limits.ts';
import type { Engagement } from './engagement.ts';
import type { WrittenEngagements } from './engagement-store.ts';

/** How long opens and clicks are held, so that bursts can be recognized. */
const holdMs = 2_500;
const maxBatchSize = 500;
/** Beyond this the oldest are dropped, so that a long database outage can't exhaust memory. */
const maxWaiting = 200_000;
/** Of them, those of one account; its later ones are dropped, so that its readers can't push out those of others. */
const accountShare = 1 / 4;
const retryMs = 1_000;

export interface EngagementWriterOptions {
  /** Writes the events, as `writeEngagements`. */
  readonly write: (items: readonly Engagement[], decide: boolean) => Promise<WrittenEngagements>;
  readonly log: Log;
  readonly holdMs?: number;
  readonly maxWaiting?: number;
}

/**
 * Buffers opens and clicks and writes them in batches, retrying until the database accepts and can decide them. `stop` writes what is
 * pending, so an orderly shutdown loses none.
 */
export class EngagementWriter {
  readonly #options: EngagementWriterOptions;
  readonly #hold: number;
  readonly #limit = new EngagementLimit();
  #waiting: Engagement[] = [];
  /** Events by account that aren't written yet. */
  readonly #waitingOf = new Map<AccountId, number>();
  /** Taken from the pending events but not written yet. */
  #inFlight = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The current write; there is never more than one. */
  #writing: Promise<void> | undefined;
  #dropped = 0;
  #stopping = false;
  /** Ends a shutdown. */
  #deadline: NodeJS.Timeout | undefined;
  /** Called for each written batch. */
  #extend: () => void = () => undefined;
  #givenUp = false;

  constructor(options: EngagementWriterOptions) {
    this.#options = options;
    this.#hold = options.holdMs ?? holdMs;
  }

  /** Adds an event unless its message has reached the limit. Never throws or blocks. */
  add(item: Engagement): void {
    if (this.#givenUp) {
      this.#logLoss(1);
      return;
    }
    if (!this.#limit.consume(item)) return;
    const limit = this.#options.maxWaiting ?? maxWaiting;
    const { accountId } = item.message;
    if ((this.#waitingOf.get(accountId) ?? 0) >= limit * accountShare) {
      this.#dropped += 1;
      return;
    }
    if (this.#waiting.length + this.#inFlight >= limit)
      this.#dropped += this.#forget(this.#waiting.splice(0, maxBatchSize)).length;
    if (this.#waiting.length + this.#inFlight >= limit) this.#dropped += 1;
    else {
      this.#waiting.push(item);
      this.#waitingOf.set(accountId, (this.#waitingOf.get(accountId) ?? 0) + 1);
    }
    this.#schedule(this.#hold);
  }

  /**
   * Writes pending events. Gives up once the database has taken none for `timeoutMs`, or after twice as long, and logs how
   * many were lost.
   */
  async stop(timeoutMs = 10_000): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    const deadline = Promise.withResolvers<void>();
    const giveUp = (): void => {
      this.#givenUp = true;
      deadline.resolve();
    };
    this.#extend = () => {
      clearTimeout(this.#deadline);
      this.#deadline = setTimeout(giveUp, timeoutMs);
    };
    this.#extend();
    const last = setTimeout(giveUp, timeoutMs * 2);
    while (!this.#givenUp && this.#waiting.length + this.#inFlight > 0) {
      await Promise.race([this.#write(), deadline.promise]);
      if (this.#waiting.length > 0) await Promise.race([delay(100), deadline.promise]);
    }
    clearTimeout(this.#deadline);
    clearTimeout(last);
    this.#givenUp = true;
    const lost = this.#waiting.length + this.#inFlight + this.#dropped;
    if (lost > 0) this.#logLoss(lost);
  }

  /** These events don't wait any more. */
  #forget(items: readonly Engagement[]): readonly Engagement[] {
    for (const { message } of items) {
      const left = (this.#waitingOf.get(message.accountId) ?? 0) - 1;
      if (left > 0) this.#waitingOf.set(message.accountId, left);
      else this.#waitingOf.delete(message.accountId);
    }
    return items;
  }

  #logLoss(lost: number): void {
    this.#options.log.error({ lost }, 'opens and clicks were lost at shutdown');
  }

  /** Keeps events until the outcome of their message's delivery is recorded. */
  #wait(items: readonly Engagement[]): void {
    this.#limit.restore(items);
    const now = performance.now();
    for (const item of items) this.#waiting.push({ ...item, waitsSince: item.waitsSince ?? now });
  }

  /** Schedules the next write, unless one is running or due, which then schedules the next. */
  #schedule(after: number): void {
    if (this.#timer !== undefined || this.#writing !== undefined || this.#stopping) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#write();
    }, after);
    this.#timer.unref();
  }

  #write(): Promise<void> {
    this.#writing ??= this.#flush().then((written) => {
      this.#writing = undefined;
      if (this.#waiting.length > 0) this.#schedule(written ? this.#hold : retryMs);
    });
    return this.#writing;
  }

  /** @returns false if some events could not be written and are pending again */
  async #flush(): Promise<boolean> {
    const items = findBursts(this.#waiting.splice(0));
    this.#inFlight = items.length;
    this.#limit.startRound();
    for (let from = 0; from < items.length; from += maxBatchSize) {
      const batch = items.slice(from, from + maxBatchSize);
      try {
        const { full, undecided } = await this.#options.write(batch, this.#stopping);
        this.#limit.recordFull(batch, full);
        this.#forget(batch.filter(({ id }) => !undecided.has(id)));
        this.#inFlight -= batch.length;
        this.#wait(batch.filter(({ id }) => undecided.has(id)));
        if (!this.#givenUp) this.#extend();
      } catch (error) {
        this.#options.log.warn({ err: error }, 'could not write opens and clicks; retrying');
        const again = items.slice(from);
        this.#limit.restore(again);
        this.#waiting = again.concat(this.#waiting);
        this.#inFlight = 0;
        return false;
      }
    }
    if (this.#dropped > 0) {
      this.#options.log.error(
        { lost: this.#dropped },
        'opens and clicks were lost while the database was unavailable',
      );
      this.#dropped = 0;
    }
    return true;
  }
}

/** Max keys remembered as full. The oldest are evicted; the database reports them again. */
const maxRemembered = 20_000;

/**
 * Drops opens and clicks over their message's limit before they are written, in constant time. The database decides
 * what is over the limit, so it holds across restarts and nodes.
 */
class EngagementLimit {
  readonly #full = new LRUCache<string, true>({ max: maxRemembered });
  #waiting = new Map<string, number>();

  /** Counts an event to be written; false if it is over the limit. */
  consume(item: Engagement): boolean {
    const key = keyOf(item);
    if (this.#full.has(key)) return false;
    const waiting = this.#waiting.get(key) ?? 0;
    if (waiting >= maxEngagements) return false;
    this.#waiting.set(key, waiting + 1);
    return true;
  }

  /** Resets the counts: everything pending is now being written. */
  startRound(): void {
    this.#waiting = new Map();
  }

  /** Counts events again that couldn't be written. */
  restore(items: readonly Engagement[]): void {
    for (const item of items) {
      const key = keyOf(item);
      this.#waiting.set(key, (this.#waiting.get(key) ?? 0) + 1);
    }
  }

  /**
   * Remembers the limits that the database reported as reached.
   * @param full IDs of the events over them
   */
  recordFull(items: readonly Engagement[], full: ReadonlySet<string>): void {
    for (const item of items) if (full.has(item.id)) this.#full.set(keyOf(item), true);
  }
}

/** Includes the class, so that bots don't use up people's share. */
function keyOf({ message, kind, link, verdict }: Engagement): string {
  return `${message.messageId} ${kind} ${link ?? ''} ${verdict.class}`;
}

/** A person needs longer than this to follow several links. */
const burstMs = 2_000;
/** Distinct links within that time. */
const burstLinks = 3;

/**
 * Finds scanners by their clicks: a reader that followed the hidden link, or several links at once, counts as a scanner
 * for everything it did in that message.
 */
export function findBursts(items: readonly Engagement[]): Engagement[] {
  const groups = new Map<string, Engagement[]>();
  for (const item of items) {
    if (item.kind !== 'clicked') continue;
    const key = `${item.message.messageId} ${item.network} ${item.userAgent}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  const verdicts = new Map<Engagement, string>();
  for (const group of groups.values()) {
    const reason = reasonOf(group);
    if (reason !== undefined) for (const item of group) verdicts.set(item, reason);
  }
  return items.map((item) => {
    const reason = verdicts.get(item);
    if (reason === undefined || item.verdict.class !== 'person') return item;
    return { ...item, verdict: { class: 'scanner', reason } };
  });
}

function reasonOf(group: readonly Engagement[]): string | undefined {
  if (group.some((item) => item.hidden)) return 'followed the hidden link';
  const clicks = group
    .filter((item) => item.link !== undefined)
    .sort((one, other) => one.at - other.at);
  // Sliding window over the clicks, counting each link in it.
  const links = new Map<number, number>();
  let first = 0;
  for (const { at, link = 0 } of clicks) {
    links.set(link, (links.get(link) ?? 0) + 1);
    for (let oldest = clicks[first]; oldest !== undefined && at - oldest.at > burstMs; ) {
      const { link: gone = 0 } = oldest;
      const left = (links.get(gone) ?? 1) - 1;
      if (left === 0) links.delete(gone);
      else links.set(gone, left);
      first += 1;
      oldest = clicks[first];
    }
    if (links.size >= burstLinks) return 'followed several links at once';
  }
  return undefined;
}
