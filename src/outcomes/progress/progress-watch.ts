import { batchReads } from '../../base/database/batch-reads.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { Log } from '../../base/values/log.ts';
import type { StatusTarget } from '../../sending/submission/status-link.ts';
import { RateLimit } from '../bounce/rate-limit.ts';
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
  readonly #read: (target: StatusTarget) => Promise<StoredProgress | undefined>;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #warnings = new RateLimit(1);
  /** By token. */
  readonly #watched = new Map<string, Watched>();
  #timer: NodeJS.Timeout | undefined;

  /** @param now the clock of message IDs, in milliseconds since the epoch */
  constructor(database: Pick<Database, 'kysely'>, log: Log, now: () => number) {
    this.#read = batchReads((targets) => readProgress(database.kysely, targets));
    this.#log = log;
    this.#now = now;
  }

  read(target: StatusTarget): Promise<StoredProgress | undefined> {
    return this.#read(target);
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
    this.#timer ??= setInterval(() => this.#checkDue(), tickMs).unref();
    return () => {
      watched.listeners.delete(listener);
      if (watched.listeners.size > 0 || this.#watched.get(token) !== watched) return;
      this.#watched.delete(token);
      if (this.#watched.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #checkDue(): void {
    const now = performance.now();
    for (const watched of this.#watched.values())
      if (watched.checkAt <= now) void this.#check(watched);
  }

  async #check(watched: Watched): Promise<void> {
    watched.checkAt = Number.POSITIVE_INFINITY;
    let delayMs = maxDelayMs / 2;
    try {
      const stored = await this.#read(watched.target);
      delayMs = this.#delayAfter(watched.target, stored);
      for (const listener of [...watched.listeners]) listener(stored);
    } catch (error) {
      // The streams stay open until the database is back.
      if (this.#warnings.consume('', Date.now()))
        this.#log.warn({ err: error }, 'could not read the progress of messages; retrying');
    }
    watched.checkAt = performance.now() + delayMs;
  }

  #delayAfter({ acceptedAt }: StatusTarget, stored: StoredProgress | undefined): number {
    const now = this.#now();
    const { dueAt = null, leased = false } = stored ?? {};
    const untilDue = dueAt === null || leased ? 0 : dueAt.getTime() - now;
    const delayMs = untilDue > 0 ? untilDue + tickMs : (now - acceptedAt.getTime()) * delayPerAge;
    return Math.min(maxDelayMs, Math.max(minDelayMs, delayMs));
  }
}
