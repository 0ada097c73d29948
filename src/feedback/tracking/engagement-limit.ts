import { LRUCache } from 'lru-cache';
import { maxEngagements } from '../event-limits.ts';
import type { Engagement } from './engagement.ts';

/** Opens and clicks known to be past their limit; the oldest are forgotten, and the database says so again. */
const maxRemembered = 20_000;

/**
 * Drops opens and clicks past the limit of their message before they are written: constant work in memory for each. The
 * database decides what is past the limit, so it holds over restarts and nodes.
 */
export class EngagementLimit {
  readonly #full = new LRUCache<string, true>({ max: maxRemembered });
  #waiting = new Map<string, number>();

  /** Takes one that is to be written; false where it is past the limit. */
  consume(item: Engagement): boolean {
    const key = keyOf(item);
    if (this.#full.has(key)) return false;
    const waiting = this.#waiting.get(key) ?? 0;
    if (waiting >= maxEngagements) return false;
    this.#waiting.set(key, waiting + 1);
    return true;
  }

  /** All that waits is being written from here on. */
  startRound(): void {
    this.#waiting = new Map();
  }

  /** These wait again. */
  restore(items: readonly Engagement[]): void {
    for (const item of items) {
      const key = keyOf(item);
      this.#waiting.set(key, (this.#waiting.get(key) ?? 0) + 1);
    }
  }

  /** Remembers the limits that the database found reached. @param full ids */
  recordFull(items: readonly Engagement[], full: ReadonlySet<string>): void {
    for (const item of items) if (full.has(item.id)) this.#full.set(keyOf(item), true);
  }
}

/** By class too, so that machines leave room for people. */
function keyOf({ message, kind, link, verdict }: Engagement): string {
  return `${message.messageId} ${kind} ${link ?? ''} ${verdict.class}`;
}
