import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { within } from '../values/within.ts';

/** A database server of a stranger. */
export interface StrangersServer {
  /** As in the URL: a name or an address. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Not empty: drivers would send the one of this process's environment. */
  readonly password: string;
  readonly database: string;
  /** False: without TLS, which only addresses allow that the operator trusts. */
  readonly tls: boolean;
}

/** What a query returns: every value as text, whatever type the server says it has. */
export type TextRow = Readonly<Partial<Record<string, string | null>>>;

/** A connection to a stranger's server. */
export interface GuardedClient {
  /**
   * Runs a statement.
   * @param value of its only parameter: `$1` for PostgreSQL, `mysqlParameter` for MySQL
   * @throws Error of the server, or on timeout
   */
  query(text: string, value?: string): Promise<readonly TextRow[]>;
  isOpen(): boolean;
  /** Closes the connection at once. */
  close(): void;
}

export interface GuardedOptions {
  readonly applicationName: string;
  /** What the server may send between two statements, or in a message of a stream. */
  readonly maxAnswerBytes: number;
  /** Called with each notification, and once the connection is closed. */
  readonly onNews?: (() => void) | undefined;
  /** As a replication connection (PostgreSQL manual, streaming replication protocol). */
  readonly replication?: boolean;
}

export const connectTimeoutMs = 5_000;
const queryTimeoutMs = 30_000;

/** The socket of a driver's connection, which ends if its server takes too long or sends more than it was asked for. */
export function guardSocket({ maxAnswerBytes, onNews }: GuardedOptions) {
  const socket = new Socket().setKeepAlive(true).setNoDelay(true);
  socket.on('close', () => onNews?.());
  let stream: Duplex;
  let received = 0;
  const close = (): void => {
    stream.destroy();
    socket.destroy();
  };
  const restart = (): void => {
    received = 0;
  };
  /** Reads along, also once it is encrypted. */
  const watch = (read: Duplex): void => {
    stream = read.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > maxAnswerBytes)
        read.destroy(new Error('the server sent more than was asked for'));
    });
  };
  watch(socket);
  return {
    socket,
    watch,
    restart,
    /** Makes the client once the driver has connected. */
    async clientOf(connecting: Promise<unknown>, run: GuardedClient['query']) {
      await connecting.catch((error: unknown) => {
        close();
        throw error;
      });
      const client: GuardedClient = {
        async query(text, value) {
          restart();
          return within(run(text, value), queryTimeoutMs, () => {
            // The statement still occupies the connection.
            close();
            throw new Error('Query read timeout');
          });
        },
        isOpen: () => !stream.destroyed,
        close,
      };
      return client;
    },
  };
}
