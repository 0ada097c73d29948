import { LRUCache } from 'lru-cache';
import { maxEngagements } from '../event-limits.ts';
import type { Engagement } from './engagement.ts';

/** Max keys remembered as full. The oldest are evicted; the database reports them again. */
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
