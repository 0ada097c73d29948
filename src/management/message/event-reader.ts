import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId } from '../../foundation/ids.ts';
import type { EventKind } from '../../message/event-kinds.ts';
import type { AccountEvent, EventPosition } from '../../webhook/account-event-store.ts';
import type { AccountEvents } from '../../webhook/account-events.ts';

/** Events after the reader's position may have been deleted, or the position never existed. */
export class EventsMissing extends Error {
  readonly outcome: 'expired' | 'unknown';

  constructor(outcome: 'expired' | 'unknown') {
    super(`the position is ${outcome}`);
    this.outcome = outcome;
  }
}

export interface EventReaderDependencies {
  readonly events: Pick<AccountEvents, 'listen' | 'read'>;
  readonly database: Pick<Database, 'kysely'>;
  readonly accountId: AccountId;
  /** Undefined for the oldest event. */
  readonly after: EventPosition | undefined;
  /** Undefined for all of them. */
  readonly kinds: ReadonlySet<EventKind> | undefined;
  /** Ends every wait. */
  readonly ended: AbortSignal;
}

/** Events that a reader found. */
export interface FoundEvents {
  readonly events: readonly AccountEvent[];
  /** The position after them. */
  readonly end: EventPosition;
  /** More may follow right away. */
  readonly more: boolean;
}

const beginning: EventPosition = { page: '0', index: 0 };
/** Events per read with a filter, and reads that may find nothing before the caller gets an empty result. */
const filterChunk = 1_000;
const maxEmptyReads = 20;

/** One caller's way through the events of an account. */
export class EventReader {
  readonly #dependencies: EventReaderDependencies;
  readonly #unlisten: () => void;
  #after: EventPosition | undefined;
  #woken = false;
  #wake = (): void => undefined;

  constructor(dependencies: EventReaderDependencies) {
    const { events, accountId, after, ended } = dependencies;
    this.#dependencies = dependencies;
    this.#after = after;
    this.#unlisten = events.listen(accountId, () => {
      this.#woken = true;
      this.#wake();
    });
    ended.addEventListener('abort', () => {
      this.stopListening();
      this.#wake();
    });
    if (ended.aborted) this.stopListening();
  }

  stopListening(): void {
    this.#unlisten();
  }

  /**
   * Moves past up to `limit` events.
   * @throws EventsMissing
   */
  async next(limit: number): Promise<FoundEvents> {
    const { events, database, accountId, kinds, ended } = this.#dependencies;
    const chunk = kinds === undefined ? limit : Math.max(limit, filterChunk);
    for (let reads = 1; ; reads += 1) {
      this.#woken = false;
      const read = await events.read(database, accountId, this.#after, chunk);
      if (read.outcome !== 'read') throw new EventsMissing(read.outcome);
      const from = this.#after ?? beginning;
      const hasMoved = read.end.page !== from.page || read.end.index !== from.index;
      const matching = read.events.filter(({ kind }) => kinds === undefined || kinds.has(kind));
      const kept = matching.slice(0, limit);
      const end = matching.length > limit ? (kept.at(-1)?.position ?? read.end) : read.end;
      if (hasMoved) this.#after = end;
      const found = { events: kept, end, more: hasMoved };
      if (kept.length > 0 || !hasMoved || reads >= maxEmptyReads || ended.aborted) return found;
    }
  }

  /** The same; waits for events if there are none. */
  async nextWithin(waitMs: number, limit: number): Promise<FoundEvents> {
    const deadline = performance.now() + waitMs;
    for (;;) {
      const found = await this.next(limit);
      const left = deadline - performance.now();
      if (found.events.length > 0 || found.more || left <= 0) return found;
      if (this.#dependencies.ended.aborted) return found;
      await this.wait(left);
    }
  }

  /** Resolves after new events since the last read, after this time, or at the end. */
  async wait(ms: number): Promise<void> {
    if (this.#woken || this.#dependencies.ended.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => undefined;
  }
}
