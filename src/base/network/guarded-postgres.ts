import { isIP, type Socket } from 'node:net';
import pg from 'pg';
import {
  connectTimeoutMs,
  type GuardedClient,
  type GuardedOptions,
  guardSocket,
  type StrangersServer,
} from './guarded-database.ts';

/** The parts of the driver that its types don't have. */
interface DriverInternals {
  readonly connection: {
    stream: Socket;
    on(event: 'copyData', listener: (message: { readonly chunk: Buffer }) => void): unknown;
    once(event: string, listener: () => void): unknown;
    sendCopyFromChunk(chunk: Buffer): void;
  };
}

/** A connection that can also carry a stream of changes. */
export interface PostgresClient extends GuardedClient {
  /**
   * Starts a stream, after which no query can follow. In a second, about `maxAnswerBytes` of it are read.
   * @param texts statements, of which the last one starts it
   * @param onData called with each message of it
   * @returns sends a message
   * @throws Error of the server
   */
  stream(
    texts: readonly string[],
    onData: (chunk: Buffer) => void,
  ): Promise<(chunk: Buffer) => void>;
}

/** What a smaller message of a stream counts as. */
const minMessageBytes = 64;

/**
 * Connects to a stranger's PostgreSQL at an address of `allowedAddresses`. It verifies its certificate for the host, and reads no more
 * than a bounded answer to each statement. No setting is sent at the start, so poolers in transaction mode accept it; a driver's own
 * limit of SCRAM iterations bounds what a login costs.
 * @throws Error if it can't be reached or refuses the login
 */
export async function connectToPostgres(
  { host, tls, ...login }: StrangersServer,
  address: string,
  { replication = false, ...options }: GuardedOptions,
): Promise<PostgresClient> {
  const { socket, watch, restart, clientOf } = guardSocket(options);
  const client = new pg.Client({
    ...login,
    host: address,
    stream: () => socket,
    ssl: tls && { rejectUnauthorized: true, ...(isIP(host) === 0 && { servername: host }) },
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    types: { getTypeParser: () => String },
    ...(replication && { replication: 'database' }),
  });
  const { connection } = client as unknown as DriverInternals;
  connection.once('sslconnect', () => watch(connection.stream));
  // The statement in progress fails with the error; without a listener, it would end the process.
  client.on('error', () => undefined).on('notification', () => options.onNews?.());
  const guarded = await clientOf(client.connect(), async (text, value) => {
    // By the extended protocol with a value.
    const values = value === undefined ? undefined : [value];
    return (await client.query<Record<string, string | null>>(text, values)).rows;
  });
  return {
    ...guarded,
    async stream(texts, onData) {
      let received = 0;
      const turns = setInterval(() => {
        received = 0;
        connection.stream.resume();
      }, 1_000).unref();
      connection.stream.once('close', () => clearInterval(turns));
      connection.on('copyData', ({ chunk }) => {
        restart();
        onData(chunk);
        // A server that sends without end gets only so much of this process's time.
        received += Math.max(chunk.length, minMessageBytes);
        if (received > options.maxAnswerBytes) connection.stream.pause();
      });
      for (const text of texts.slice(0, -1)) await client.query(text);
      await new Promise<void>((resolve, reject) => {
        connection.once('replicationStart', resolve);
        client.query(texts.at(-1) ?? '').then(guarded.close, reject);
      });
      return (chunk) => connection.sendCopyFromChunk(chunk);
    },
  };
}
