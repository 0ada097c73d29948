import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { Limiter } from '../fairness/limiter.ts';
import { policies } from '../fairness/policies.ts';
import { clientSettings, type Database, ignoreIdleErrors, type Tables } from './open-database.ts';
import { ServiceClient } from './service-client.ts';

/** Connections for the management API, separate from those of sending, tokens and probes. */
export interface SharedPool {
  /** The database for requests of one account. @param account or another group with its own share */
  forAccount(account: string): Database;
  close(): Promise<void>;
}

/** Timeouts of a statement, a lock and a connection, in milliseconds. */
const statementTimeoutMs = 15_000;
const lockTimeoutMs = 5_000;
const connectionTimeoutMs = 5_000;

/**
 * Opens a small connection pool that accounts share fairly. Statements and locks have timeouts, and callers that get no
 * connection in time receive `Busy`.
 */
export function openSharedPool(base: Database, connections: number): SharedPool {
  const client = clientSettings(base.settings, 'signalpost management');
  const pool = new pg.Pool({
    ...client,
    Client: ServiceClient,
    options: `${client.options} -c statement_timeout=${statementTimeoutMs} -c lock_timeout=${lockTimeoutMs}`,
    // The server cancels slow statements; this covers a server that stopped responding.
    query_timeout: statementTimeoutMs + 5_000,
    connectionTimeoutMillis: connectionTimeoutMs,
    idleTimeoutMillis: 60_000,
    max: connections,
  });
  ignoreIdleErrors(pool);
  const slots = new Limiter(
    policies.managementConnections,
    connections / policies.managementConnections.total,
  );
  return {
    forAccount(account) {
      const connect = () => connectInSlot(pool, slots, account);
      const end = async () => undefined;
      const kysely = new Kysely<Tables>({
        dialect: new PostgresDialect({ pool: { connect, end, options: pool.options } }),
      });
      return { ...base, kysely, pool, close: end };
    },
    close: () => pool.end(),
  };
}

/** A connection that returns the account's slot when released. */
async function connectInSlot(
  pool: pg.Pool,
  slots: Limiter,
  account: string,
): Promise<pg.PoolClient> {
  const { release: releaseSlot } = await slots.acquire(account);
  try {
    const client = await pool.connect();
    // The pool assigns `release` on every checkout.
    const release = client.release.bind(client);
    client.release = (broken) => {
      releaseSlot();
      release(broken);
    };
    return client;
  } catch (error) {
    releaseSlot();
    throw error;
  }
}
