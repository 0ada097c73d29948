import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { FairSlots } from '../fair-slots.ts';
import { clientSettings, type Database, ignoreIdleErrors, type Tables } from './open-database.ts';
import { ServiceClient } from './service-client.ts';

/** What accounts ask of a database by hand: on connections apart from those that sending, tokens and probes use. */
export interface SharedPool {
  /** The database as the requests of one account see it. @param account or whoever else has a share of its own */
  forAccount(account: string): Database;
  close(): Promise<void>;
}

/** Milliseconds: of one statement, of waiting for one lock, and of waiting for a connection. */
const statementTimeoutMs = 15_000;
const lockTimeoutMs = 5_000;
const connectionTimeoutMs = 5_000;

/** Connections that one account may hold; the others are left to the other accounts. */
const maxConnectionsPerAccount = 2;

/**
 * Opens a small pool of connections that accounts share fairly. Nothing on it waits for long: statements and locks have a
 * time-out, and who finds no connection in time is told to come again.
 * @param base the database that it is a part of
 */
export function openSharedPool(base: Database, connections: number): SharedPool {
  const client = clientSettings(base.settings, 'signalpost management');
  const pool = new pg.Pool({
    ...client,
    Client: ServiceClient,
    options: `${client.options} -c statement_timeout=${statementTimeoutMs} -c lock_timeout=${lockTimeoutMs}`,
    // The server ends statements; this is for one that has fallen silent.
    query_timeout: statementTimeoutMs + 5_000,
    connectionTimeoutMillis: connectionTimeoutMs,
    idleTimeoutMillis: 60_000,
    max: connections,
  });
  ignoreIdleErrors(pool);
  const slots = new FairSlots({
    what: 'requests',
    slots: connections,
    slotsPerGroup: Math.max(1, Math.min(maxConnectionsPerAccount, connections - 1)),
    waiting: 256,
    waitingPerGroup: 32,
    timeout: connectionTimeoutMs,
    retryAfter: 1,
  });
  return {
    forAccount(account) {
      const connect = () => connectInSlot(pool, slots, account);
      const end = async () => undefined;
      const kysely = new Kysely<Tables>({
        dialect: new PostgresDialect({ pool: { connect, end } }),
      });
      return { ...base, kysely, pool, close: end };
    },
    close: () => pool.end(),
  };
}

/** A connection whose release gives the account's slot back. */
async function connectInSlot(
  pool: pg.Pool,
  slots: FairSlots,
  account: string,
): Promise<pg.PoolClient> {
  const releaseSlot = await slots.acquire(account);
  try {
    const client = await pool.connect();
    // The pool sets it anew each time that it hands the connection out.
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
