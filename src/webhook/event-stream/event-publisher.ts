import { findMessageWindowEnd } from '../../feedback/message-log/message-log-store.ts';
import { holdSessionLock } from '../../foundation/database/hold-session-lock.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { Log } from '../../foundation/log.ts';
import {
  beginLogCursor,
  moveLogCursor,
  readLogRange,
} from '../../foundation/log-output/log-cursor-store.ts';
import { PeriodicTask } from '../../foundation/periodic-task.ts';
import { describeEvent } from '../describe-event.ts';
import { readEventWindow } from './event-stream-store.ts';
import type { NatsStream } from './nats-stream.ts';
import type { NatsTarget } from './nats-target.ts';

const cursor = 'nats';
const intervalMs = 1_000;
/** Events that wait for the server's acknowledgment at the same time. */
const maxEvents = 500;

export interface EventPublisherOptions {
  readonly database: Database;
  readonly log: Log;
  readonly target: NatsTarget;
}

/**
 * Publishes the events of all accounts to NATS JetStream, in commit order and by one node at a time, as bodies of webhooks with
 * the account. Each is published at least once: the position moves once the server has stored what is before it. While the
 * server is away, events wait in the database.
 */
export class EventPublisher {
  readonly #options: EventPublisherOptions;
  readonly #task: PeriodicTask;
  #stream: NatsStream | undefined;
  #begun = false;
  #failing = false;

  constructor(options: EventPublisherOptions) {
    this.#options = options;
    this.#task = new PeriodicTask(intervalMs, () => this.#run());
  }

  /** Resolves when the position is known: nothing that is committed from here on is missed. */
  async start(): Promise<void> {
    await this.#begin();
    this.#task.start();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    await this.#stream?.close();
  }

  async #begin(): Promise<void> {
    await beginLogCursor(this.#options.database.kysely, cursor);
    this.#begun = true;
  }

  async #run(): Promise<void> {
    const { database, log } = this.#options;
    try {
      if (!this.#begun) await this.#begin();
      // Not a transaction: an open one would hold up everything that reads events in commit order.
      await holdSessionLock(database, 'eventStream', async () => {
        while (await this.#publishWindow());
      });
      if (this.#failing) log.info('publishing events to NATS again');
      this.#failing = false;
    } catch (error) {
      await this.#stream?.close().catch(() => undefined);
      this.#stream = undefined;
      if (!this.#failing)
        log.warn({ err: error }, 'could not publish events to NATS; they wait in the database');
      this.#failing = true;
    }
  }

  /** @returns true if more events may follow */
  async #publishWindow(): Promise<boolean> {
    const { kysely } = this.#options.database;
    const range = await readLogRange(kysely, cursor);
    if (range === undefined) return false;
    const { from, end } = range;
    // Shows that the position is in use while the server is away.
    await moveLogCursor(kysely, cursor, from, 0);
    const until = await findMessageWindowEnd(kysely, from, end, maxEvents);
    const events = await readEventWindow(kysely, { from, until });
    if (events.length > 0) {
      const stream = await this.#connected();
      await stream.publish(
        events.map(({ accountId, ...event }) => ({
          accountId,
          kind: event.kind,
          eventId: event.eventId,
          body: JSON.stringify({ accountId, ...describeEvent(event) }),
        })),
      );
    }
    await moveLogCursor(kysely, cursor, until, events.length);
    return until !== end;
  }

  async #connected(): Promise<NatsStream> {
    if (this.#stream?.isClosed === false) return this.#stream;
    const { NatsStream: Stream } = await import('./nats-stream.ts');
    this.#stream = await Stream.open(this.#options.target);
    return this.#stream;
  }
}
