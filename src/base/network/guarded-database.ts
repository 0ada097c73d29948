import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HostNames } from '../dns/host-names.ts';
import { privateAddressMessage } from './guarded-request.ts';
import type { PublicNetworks } from './public-networks.ts';

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
}

export const connectTimeoutMs = 5_000;
export const queryTimeoutMs = 30_000;

/**
 * The address to connect to: the exact one that was checked, which prevents DNS rebinding.
 * @throws Error if the server has none, or one in a network that isn't allowed
 */
export async function guardedAddress(
  { host, tls }: Pick<StrangersServer, 'host' | 'tls'>,
  networks: PublicNetworks,
  hostNames: HostNames,
): Promise<string> {
  const addresses =
    isIP(host) === 0 ? (await hostNames.lookUp(host)).map(({ address }) => address) : [host];
  const [address] = addresses;
  const isAllowed = (each: string): boolean =>
    tls ? networks.allows(each) : networks.isTrusted(each);
  if (address === undefined || !addresses.every(isAllowed)) throw new Error(privateAddressMessage);
  return address;
}

/** Ends connections whose server sends more than it was asked for. @returns `restart` is called with each statement */
export function limitAnswers(maxBytes: number) {
  let received = 0;
  return {
    watch(stream: Duplex): void {
      stream.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received > maxBytes)
          stream.destroy(new Error('the server sent more than was asked for'));
      });
    },
    restart(): void {
      received = 0;
    },
  };
}
