import { batchReads } from '../../base/database/batch-reads.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { StatusTarget } from '../../sending/submission/status-link.ts';
import { readProgress, type StoredProgress } from './progress-store.ts';

/** Gets what was read; undefined: there is no such message. */
type Listener = (stored: StoredProgress | undefined) => void;

interface Watched {
  readonly target: StatusTarget;
  readonly listeners: Set<Listener>;
  /** Monotonic time. */
  checkAt: number;
}

const tickMs = 500;
const minDelayMs = 1_000;
const maxDelayMs = 10_000;
/** A message that has waited for a minute can wait three seconds for its next check. */
const delayPerAge = 1 / 20;

/**
 * Reads the progress of messages for many readers. Those that read at the same time share a statement, whatever their accounts,
 * and streams of one message a check; a message that waits for its next attempt is checked less often.
 */
export class ProgressWatch {
  readonly read: (target: StatusTarget) => Promise<StoredProgress | undefined>;
  readonly #now: () => number;
  /** By token. */
  readonly #watched = new Map<string, Watched>();
  #timer: NodeJS.Timeout | undefined;

  /** @param now the clock of message IDs, in milliseconds since the epoch */
  constructor({ kysely }: Pick<Database, 'kysely'>, now: () => number) {
    this.read = batchReads((targets) => readProgress(kysely, targets));
    this.#now = now;
  }

  /** Streams that follow a token. */
  countFollowers(token: string): number {
    return this.#watched.get(token)?.listeners.size ?? 0;
  }

  /** Calls the listener soon and after each check, also if nothing has changed, until the returned function is called. */
  follow(token: string, target: StatusTarget, listener: Listener): () => void {
    const watched = this.#watched.get(token) ?? { target, listeners: new Set(), checkAt: 0 };
    this.#watched.set(token, watched);
    watched.listeners.add(listener);
    void this.#check(watched);
    this.#timer ??= setInterval(() => {
      for (const each of this.#watched.values())
        if (each.checkAt <= performance.now()) void this.#check(each);
    }, tickMs).unref();
    return () => {
      watched.listeners.delete(listener);
      if (watched.listeners.size === 0 && this.#watched.get(token) === watched)
        this.#watched.delete(token);
      if (this.#watched.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async #check(watched: Watched): Promise<void> {
    watched.checkAt = Number.POSITIVE_INFINITY;
    let delayMs = maxDelayMs / 2;
    try {
      const stored = await this.read(watched.target);
      delayMs = this.#delayAfter(watched.target, stored);
      for (const listener of [...watched.listeners]) listener(stored);
    } catch {
      // The streams stay open until the database is back, which others log.
    }
    watched.checkAt = performance.now() + delayMs;
  }

  /** Until the next attempt or the end of the link, within limits. */
  #delayAfter({ acceptedAt, expiresAt }: StatusTarget, stored?: StoredProgress): number {
    const now = this.#now();
    const age = now - acceptedAt.getTime();
    const untilTry = stored?.nextTryAt && stored.nextTryAt.getTime() - now + tickMs;
    const delayMs = Math.max(minDelayMs, untilTry ?? age * delayPerAge);
    return Math.min(maxDelayMs, delayMs, expiresAt.getTime() - now);
  }
}
