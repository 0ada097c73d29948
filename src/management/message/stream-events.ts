import { Readable } from 'node:stream';
import { TurnQueue } from '../../foundation/fair-queue.ts';
import type { AccountId } from '../../foundation/ids.ts';
import type { AccountEvent, EventPosition } from '../../webhook/account-event-store.ts';
import type { EventReader, FoundEvents } from './event-reader.ts';

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

export interface EventStreamOptions {
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
