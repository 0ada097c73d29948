import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  connectTimeoutMs,
  type GuardedClient,
  type GuardedOptions,
  limitAnswers,
  queryTimeoutMs,
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
  { host, port, tls, ...login }: StrangersServer,
  address: string,
  { applicationName, maxAnswerBytes, onNews }: GuardedOptions,
): Promise<GuardedClient> {
  const { createConnection } = await import('mysql2');
  const limit = limitAnswers(maxAnswerBytes);
  const socket = connect(port, address).setKeepAlive(true).setNoDelay(true);
  limit.watch(socket);
  const connection = createConnection({
    ...login,
    host,
    stream: socket,
    ...(tls && { ssl: { rejectUnauthorized: true, verifyIdentity: true } }),
    connectTimeout: connectTimeoutMs,
    connectAttributes: { program_name: applicationName },
    flags: ['-LOCAL_FILES'],
    disableEval: true,
    typeCast: (field) => field.string(),
  });
  const internals = connection as unknown as DriverInternals;
  const { startTLS } = internals;
  internals.startTLS = (onSecure) => {
    startTLS.call(connection, onSecure);
    limit.watch(internals.stream);
  };
  const close = (): void => void socket.destroy();
  socket.on('close', () => onNews?.());
  await new Promise((resolve, reject) => {
    connection.once('connect', resolve).on('error', reject);
  }).catch((error: unknown) => {
    close();
    throw error;
  });
  return {
    query: (text, value = '') =>
      new Promise((resolve, reject) => {
        limit.restart();
        const hex = `convert(x'${Buffer.from(value).toString('hex')}' using utf8mb4)`;
        const sql = text.replaceAll(mysqlParameter, hex);
        connection.query({ sql, timeout: queryTimeoutMs }, (error, rows) => {
          if (error === null) return resolve(Array.isArray(rows) ? (rows as never) : []);
          // After a timeout, the statement still occupies the connection.
          if (error.code === 'PROTOCOL_SEQUENCE_TIMEOUT') close();
          reject(error);
        });
      }),
    isOpen: () => !socket.destroyed,
    close,
  };
}
