import type { Duplex } from 'node:stream';
import {
  connectTimeoutMs,
  type GuardedClient,
  type GuardedOptions,
  guardSocket,
  type StrangersServer,
} from './guarded-database.ts';

/** The parameter of a statement; no name that a statement may have contains it. */
export const mysqlParameter = '\u0001';

/** The parts of the driver that its types don't have. */
interface DriverInternals {
  stream: Duplex;
  startTLS(onSecure: (error?: Error) => void): void;
}

/**
 * Connects to a stranger's MySQL or MariaDB, as `connectToPostgres` does. A server can ask for no files of this machine, and what it
 * says of its columns becomes no code. Values are sent as hexadecimal literals, which mean the same in every `sql_mode`.
 * @throws Error if it can't be reached or refuses the login
 */
export async function connectToMysql(
  { port, tls, ...login }: StrangersServer,
  address: string,
  options: GuardedOptions,
): Promise<GuardedClient> {
  const { createConnection } = await import('mysql2');
  const { socket, watch, clientOf } = guardSocket(options);
  const connection = createConnection({
    ...login,
    stream: socket.connect(port, address),
    ...(tls && { ssl: { rejectUnauthorized: true, verifyIdentity: true } }),
    connectTimeout: connectTimeoutMs,
    connectAttributes: { program_name: options.applicationName },
    flags: ['-LOCAL_FILES'],
    disableEval: true,
    typeCast: (field) => field.string(),
  });
  const internals = connection as unknown as DriverInternals;
  const { startTLS } = internals;
  internals.startTLS = (onSecure) => {
    startTLS.call(connection, onSecure);
    watch(internals.stream);
  };
  const connecting = new Promise((resolve, reject) => {
    connection.once('connect', resolve).on('error', reject);
  });
  return clientOf(connecting, (text, value = '') => {
    const hex = `convert(x'${Buffer.from(value).toString('hex')}' using utf8mb4)`;
    return new Promise((resolve, reject) => {
      connection.query(text.replaceAll(mysqlParameter, hex), (error, rows) => {
        if (error === null) resolve(Array.isArray(rows) ? (rows as never) : []);
        else reject(error);
      });
    });
  });
}
