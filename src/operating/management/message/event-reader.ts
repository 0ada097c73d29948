import { Readable } from 'node:stream';
import type { Database } from '../../../base/database/open-database.ts';
import { TurnQueue } from '../../../base/fairness/fair-queue.ts';
import type { AccountId } from '../../../base/values/ids.ts';
import type { EventKind } from '../../../content/message/event-kinds.ts';
import type { AccountEvent, EventPosition } from '../../../outcomes/webhook/account-event-store.ts';
import type { AccountEvents } from '../../../outcomes/webhook/account-events.ts';

/** Events after the reader's position may have been deleted, or the position never existed. */
export class EventsMissing extends Error {
  readonly outcome: 'expired' | 'unknown';

  constructor(outcome: 'expired' | 'unknown') {
    super(`the position is ${outcome}`);
    this.outcome = outcome;
  }
}

interface EventReaderDependencies {
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
interface FoundEvents {
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

/** Heartbeat interval, so that both sides notice a lost connection. */
const heartbeatMs = 15_000;
/** A client that reads nothing for this long is disconnected. */
const maxStallMs = 60_000;
/** Events per read, and bytes that may wait for a slow client before the next read. */
const eventsPerRead = 100;
const bufferBytes = 16 * 1_024;

/** One notification wakes all streams of an account, which would keep this process from anything else until all are written. */
const turns = new TurnQueue();
/** Streams at the same position share the events that they read, and so their text. */
const texts = new WeakMap<AccountEvent, string>();

interface EventStreamOptions {
  readonly accountId: AccountId;
  readonly reader: EventReader;
  readonly first: FoundEvents;
  /** Rejects once the caller lost its permission. */
  reauthorize(): Promise<void>;
  readonly ended: AbortSignal;
  viewOf(event: AccountEvent): unknown;
  cursorOf(position: EventPosition): string;
}

/**
 * Server-sent events (WHATWG HTML, section 9.2). Reads on only while the client does, so a slow one costs no memory. It
 * ends on any error: the client reconnects where it stopped, and that request says what is wrong.
 */
export function streamEvents(options: EventStreamOptions): Readable {
  const { reader, ended } = options;
  let resumedAt = performance.now();
  const stream = Readable.from(
    produce(options, () => {
      resumedAt = performance.now();
    }),
    { objectMode: false, highWaterMark: bufferBytes },
  );
  const watch = setInterval(() => {
    if (performance.now() - resumedAt > maxStallMs) stream.destroy();
  }, heartbeatMs);
  stream.once('close', () => {
    clearInterval(watch);
    reader.stopListening();
  });
  ended.addEventListener('abort', () => reader.stopListening());
  return stream;
}

async function* produce(
  { accountId, reader, first, reauthorize, ended, viewOf, cursorOf }: EventStreamOptions,
  onResume: () => void,
): AsyncGenerator<string> {
  yield 'retry: 2000\n\n';
  const textOf = (event: AccountEvent): string => {
    const known = texts.get(event);
    if (known !== undefined) return known;
    const text = `id: ${cursorOf(event.position)}\ndata: ${JSON.stringify(viewOf(event))}\n\n`;
    texts.set(event, text);
    return text;
  };
  let found = first;
  let sent = '';
  let heartbeatAt = performance.now() + heartbeatMs;
  try {
    while (!ended.aborted) {
      onResume();
      const cursor = cursorOf(found.end);
      if (found.events.length > 0) {
        const { events } = found;
        yield turns.run(accountId, () => events.map(textOf).join(''));
        sent = cursorOf(found.events.at(-1)?.position ?? found.end);
        heartbeatAt = performance.now() + heartbeatMs;
      }
      if (performance.now() >= heartbeatAt) {
        await reauthorize();
        // An event without data is not dispatched, but moves the client past events that it didn't ask for.
        yield cursor === sent ? ':\n\n' : `:\nid: ${cursor}\n\n`;
        sent = cursor;
        heartbeatAt = performance.now() + heartbeatMs;
      }
      if (!found.more) await reader.wait(Math.max(0, heartbeatAt - performance.now()));
      if (ended.aborted) return;
      await reauthorize();
      found = await reader.next(eventsPerRead);
    }
  } catch {
    // The stream ends, and the client's next request gets the error.
  }
}
