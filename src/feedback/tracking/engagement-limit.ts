import { LRUCache } from 'lru-cache';
import { maxEngagements } from '../event-limits.ts';
import type { Engagement } from './engagement.ts';

/** Max messages remembered as over the limit; the oldest are dropped, and the database will report them again. */
const maxRemembered = 20_000;

/**
 * Drops opens and clicks over their message's limit before they are written, in constant time. The database decides
 * what is over the limit, so it holds across restarts and nodes.
 */
export class EngagementLimit {
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

  /** Everything pending is being written from now on. */
  startRound(): void {
    this.#waiting = new Map();
  }

  /** These are pending again. */
  restore(items: readonly Engagement[]): void {
    for (const item of items) {
      const key = keyOf(item);
      this.#waiting.set(key, (this.#waiting.get(key) ?? 0) + 1);
    }
  }

  /**
   * Remembers limits that the database reported as reached.
   * @param full IDs
   */
  recordFull(items: readonly Engagement[], full: ReadonlySet<string>): void {
    for (const item of items) if (full.has(item.id)) this.#full.set(keyOf(item), true);
  }
}

/** Includes the class, so that bots don't use up people's share. */
function keyOf({ message, kind, link, verdict }: Engagement): string {
  return `${message.messageId} ${kind} ${link ?? ''} ${verdict.class}`;
}
