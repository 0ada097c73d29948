import { isIP, Socket } from 'node:net';
import pg from 'pg';
import type { HostNames } from '../dns/host-names.ts';
import { privateAddressMessage } from './guarded-request.ts';
import type { PublicNetworks } from './public-networks.ts';

/** A PostgreSQL server of a stranger. */
export interface StrangersServer {
  /** As in the URL: a name or an address. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Not empty: the driver would send the one of this process's environment. */
  readonly password: string;
  readonly database: string;
  /** False: without TLS, which only addresses allow that the operator trusts. */
  readonly tls: boolean;
}

/** What a query returns: every value as text, whatever type the server says it has. */
type TextRow = Readonly<Record<string, string | null>>;

/** A connection to a PostgreSQL server of a stranger. */
export interface GuardedClient {
  /** Runs a statement; with values, by the extended protocol. @throws Error of the server, or on timeout */
  query(text: string, values?: readonly unknown[]): Promise<readonly TextRow[]>;
  /** Closes the connection at once. */
  close(): void;
}

const connectTimeoutMs = 5_000;
const queryTimeoutMs = 30_000;

/** The parts of the driver that its types don't have. */
interface DriverInternals {
  readonly connection: { stream: Socket; once(event: string, listener: () => void): unknown };
}

/**
 * Connects to a stranger's server. It connects to the exact address that was checked, which prevents DNS rebinding, verifies its
 * certificate for the host, and reads no more than a bounded answer to each statement. No setting is sent at the start, so poolers
 * in transaction mode accept it; a driver's own limit of SCRAM iterations bounds what a login costs.
 * @param maxAnswerBytes what the server may send between two statements
 * @param onNotify called with each notification
 * @param onEnd called once the connection is closed
 * @throws Error if it has a private address, can't be reached or refuses the login
 */
export async function connectToStranger(
  server: StrangersServer,
  networks: PublicNetworks,
  hostNames: HostNames,
  options: {
    readonly applicationName: string;
    readonly maxAnswerBytes: number;
    readonly onNotify?: () => void;
    readonly onEnd?: () => void;
  },
): Promise<GuardedClient> {
  const { host, tls, ...login } = server;
  const addresses =
    isIP(host) === 0 ? (await hostNames.lookUp(host)).map(({ address }) => address) : [host];
  const [address] = addresses;
  const isAllowed = (each: string): boolean =>
    tls ? networks.allows(each) : networks.isTrusted(each);
  if (address === undefined || !addresses.every(isAllowed)) throw new Error(privateAddressMessage);
  const socket = new Socket();
  const client = new pg.Client({
    ...login,
    host: address,
    stream: () => socket,
    ssl: tls && { rejectUnauthorized: true, ...(isIP(host) === 0 && { servername: host }) },
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    types: { getTypeParser: () => String },
  });
  let received = 0;
  const { connection } = client as unknown as DriverInternals;
  const limit = (): void => {
    const { stream } = connection;
    stream.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > options.maxAnswerBytes)
        stream.destroy(new Error('the server sent more than was asked for'));
    });
  };
  connection.once(tls ? 'sslconnect' : 'connect', limit);
  // The statement in progress fails with the error; without a listener, it would end the process.
  client.on('error', () => undefined);
  client.on('end', () => options.onEnd?.());
  client.on('notification', () => options.onNotify?.());
  const close = (): void => {
    connection.stream.destroy();
    socket.destroy();
  };
  try {
    await client.connect();
  } catch (error) {
    close();
    throw error;
  }
  return {
    async query(text, values) {
      received = 0;
      try {
        const { rows } = await client.query<TextRow>(text, values && [...values]);
        return rows;
      } catch (error) {
        // After a timeout, the statement still occupies the connection.
        if (error instanceof Error && error.message === 'Query read timeout') close();
        throw error;
      }
    },
    close,
  };
}
