import { type JetStreamClient, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection, nanos } from '@nats-io/transport-node';
import type { NatsTarget } from './nats-target.ts';

/** Also the name of the stream that is created if no other stream captures the subjects. */
const streamName = 'SIGNALPOST';
const subjectPrefix = 'signalpost.events';
const maxAgeMs = 7 * 24 * 60 * 60 * 1000;
/** A repetition within it is dropped by the server: longer than any retry after a crash. */
const duplicateWindowMs = 60 * 60 * 1000;
const timeoutMs = 5_000;

/** An event as a message of the stream. */
export interface PublishedEvent {
  readonly accountId: string;
  readonly kind: string;
  readonly eventId: string;
  readonly body: string;
}

/** A connection to NATS that publishes events to JetStream. */
export class NatsStream {
  readonly #connection: NatsConnection;
  readonly #client: JetStreamClient;

  private constructor(connection: NatsConnection) {
    this.#connection = connection;
    this.#client = jetstream(connection, { timeout: timeoutMs });
  }

  /**
   * Connects, and creates a stream of seven days if none captures the subjects `signalpost.events.ACCOUNT.KIND`.
   * @throws if the server can't be reached, refuses the credentials or has no JetStream
   */
  static async open(target: NatsTarget): Promise<NatsStream> {
    const connection = await connectTo(target);
    try {
      await requireStream(connection);
      return new NatsStream(connection);
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  get isClosed(): boolean {
    return this.#connection.isClosed();
  }

  /**
   * Publishes events in order; resolves when the stream has stored all of them.
   * @throws if the server didn't store all of them; publish all again, because it drops duplicates
   */
  async publish(events: readonly PublishedEvent[]): Promise<void> {
    await Promise.all(
      events.map(({ accountId, kind, eventId, body }) =>
        this.#client.publish(`${subjectPrefix}.${accountId}.${kind}`, body, {
          msgID: eventId,
          timeout: timeoutMs,
        }),
      ),
    );
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}

/**
 * Checks the server, the credentials and JetStream without changing anything.
 * @throws like `NatsStream.open`
 */
export async function checkNats(target: NatsTarget): Promise<void> {
  const connection = await connectTo(target);
  try {
    await jetstreamManager(connection, { timeout: timeoutMs, checkAPI: true });
  } finally {
    await connection.close();
  }
}

function connectTo({ servers, tls, user, password, token }: NatsTarget): Promise<NatsConnection> {
  return connect({
    servers: [...servers],
    name: 'signalpost',
    timeout: timeoutMs,
    // The stream is opened again, from its position.
    reconnect: false,
    ...(tls && { tls: {} }),
    ...(user !== undefined && { user, pass: password ?? '' }),
    ...(token !== undefined && { token }),
  });
}

async function requireStream(connection: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(connection, { timeout: timeoutMs });
  const found = await manager.streams.names(`${subjectPrefix}.>`).next();
  if (found.length > 0) return;
  await manager.streams.add({
    name: streamName,
    description: 'Events of messages, as in webhooks',
    subjects: [`${subjectPrefix}.>`],
    max_age: nanos(maxAgeMs),
    duplicate_window: nanos(duplicateWindowMs),
  });
}
