import type pg from 'pg';
import { awaitSessionLock } from '../../base/database/advisory-locks.ts';
import {
  clientSettings,
  type DatabaseSettings,
  describeServer,
} from '../../base/database/open-database.ts';
import { ServiceClient } from '../../base/database/service-client.ts';
import { OperatorError } from '../../base/values/errors.ts';

/** Shown in pg_stat_activity; not among the connections of a service. */
export const moveApplication = 'signalpost move';

/** How long the sessions of a killed move may take to end. */
const lockTimeoutMs = 5_000;

/** Statements may take hours, and a session waits idly in its transaction while the other one works. */
const sessionSettings =
  '-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c idle_session_timeout=0 -c lock_timeout=0';

/** Settings that change how values are written as text. */
const textSettings =
  '-c datestyle=ISO,YMD -c intervalstyle=postgres -c timezone=UTC -c bytea_output=hex -c extra_float_digits=1';

/** Settings that not every release or platform has. */
async function applyOptionalSettings(client: pg.Client): Promise<void> {
  await client.query(
    "select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'",
  );
  // If this process is killed, the server notices within a second, instead of finishing a statement first.
  await client.query("set client_connection_check_interval = '1s'").catch(() => undefined);
}

/**
 * Opens a session for a move.
 * @throws OperatorError if another move uses the database
 */
export async function openMoveSession(settings: DatabaseSettings): Promise<pg.Client> {
  const config = clientSettings(settings, moveApplication);
  const client = new ServiceClient({
    ...config,
    options: `${config.options} ${sessionSettings} ${textSettings}`,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await applyOptionalSettings(client);
    await takeLock(client, describeServer(settings));
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

async function takeLock(client: pg.Client, where: string): Promise<void> {
  if (await awaitSessionLock(client, 'move', lockTimeoutMs)) return;
  throw new OperatorError(
    `Another move uses the database at ${where}. Wait until it ends, or stop it.`,
  );
}

/** A session of a move. */
export type MoveSession = pg.Client;

/** Makes the session see one state of its database from now on. */
export async function beginSnapshot(session: MoveSession): Promise<void> {
  await session.query('begin isolation level repeatable read');
}

export async function endSnapshot(session: MoveSession): Promise<void> {
  await session.query('commit');
}

/** Distinguishes a database from all others that are running now. */
export async function readDatabaseIdentity(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ identity: string }>(
    `select extract(epoch from pg_postmaster_start_time()) || ' ' || oid as identity
     from pg_database where datname = current_database()`,
  );
  return rows[0]?.identity ?? '';
}
