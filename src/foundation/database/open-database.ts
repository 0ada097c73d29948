import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { OperatorError } from '../errors.ts';
import { ServiceClient } from './service-client.ts';
import type { DB } from './tables.generated.ts';

/** How to reach the database: a URL, or the members of a connection to the embedded one. */
export type DatabaseSettings =
  | { readonly url: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly password: string;
      readonly database: string;
    };

export type Tables = DB;

/** Where statements run: a transaction, or the pool where each is its own. */
export type DatabaseTransaction = Kysely<Tables>;

/** A pool of connections with the typed query builder on top. Stores take `kysely`; hot paths may use `pool`. */
export interface Database {
  readonly kysely: Kysely<Tables>;
  readonly pool: pg.Pool;
  /**
   * For the queue, whose statements keep their plans: what can be looked up by index is. A plan that was made while the queue
   * was empty would read it whole once it has grown.
   */
  readonly queuePool: pg.Pool;
  readonly settings: DatabaseSettings;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string;
  /** Most connections of this pool. */
  readonly maxConnections?: number;
  /** How long an answer is waited for before its connection is given up, in milliseconds. */
  readonly statementTimeoutMs?: number;
}

/** Longer than any statement of this pool takes but those of a migration, which name their own time. */
const defaultStatementTimeoutMs = 60_000;

/** The client settings that every connection of the service shares. */
export function clientSettings(
  settings: DatabaseSettings,
  applicationName = 'signalpost',
): pg.ClientConfig {
  return {
    options: requiredOptions,
    ...('url' in settings ? parseDatabaseUrl(settings.url) : settings),
    application_name: applicationName,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  };
}

// An accepted message must be on disk before its answer, whatever the server's default is.
const requiredOptions = '-c synchronous_commit=on -c timezone=UTC -c jit=off';

/** Options of the URL's own would replace ours, not join them: they go first, since the last of two equal ones counts. */
function parseDatabaseUrl(text: string): pg.ClientConfig {
  const url = URL.parse(text);
  const own = url?.searchParams.get('options');
  if (url === null || own === undefined || own === null) return { connectionString: text };
  url.searchParams.delete('options');
  return { connectionString: url.href, options: `${own} ${requiredOptions}` };
}

/**
 * Opens a pool. Nothing is asked of the server yet.
 * A broken idle connection is dropped quietly: the statement that needs the next one reports the fault.
 */
export function openDatabase(settings: DatabaseSettings, options: DatabaseOptions = {}): Database {
  const client = clientSettings(settings, options.applicationName);
  const openPool = (given: pg.PoolConfig): pg.Pool => {
    const pool = new pg.Pool({
      ...client,
      Client: ServiceClient,
      query_timeout: options.statementTimeoutMs ?? defaultStatementTimeoutMs,
      idleTimeoutMillis: 60_000,
      ...given,
    });
    ignoreIdleErrors(pool);
    return pool;
  };
  const pool = openPool({ max: options.maxConnections ?? 10 });
  const queuePool = openPool({ max: 4, options: `${client.options} -c enable_seqscan=off` });
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    kysely,
    pool,
    queuePool,
    settings,
    async close() {
      await Promise.all([pool.end(), queuePool.end()]);
    },
  };
}

/**
 * A connection that breaks fails the statement under way on it, or the next one; the event that says so besides must
 * have a listener, or it ends the process. The pool listens while a connection idles, nobody while it is in use.
 */
export function ignoreIdleErrors(pool: pg.Pool): void {
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
}

const minServerVersion = 150_000;

/**
 * Refuses a server that cannot be reached or is older than PostgreSQL 15.
 * @throws OperatorError with one sentence that never contains the URL's password
 */
export async function requireServer(database: Database): Promise<void> {
  const where = describeServer(database.settings);
  let version: number;
  try {
    const answer = await database.pool.query<{ v: string }>(
      "select current_setting('server_version_num') as v",
    );
    version = Number(answer.rows[0]?.v);
  } catch (cause) {
    throw new OperatorError(`The database at ${where} cannot be used: ${reasonOf(cause)}.`, {
      cause,
    });
  }
  requireServerVersion(where, version);
}

/**
 * @param version as in the server's setting `server_version_num`: 140023 for 14.23
 * @throws OperatorError for a server older than PostgreSQL 15
 */
export function requireServerVersion(where: string, version: number): void {
  if (version >= minServerVersion) return;
  const found = `${Math.floor(version / 10_000)}.${version % 10_000}`;
  throw new OperatorError(
    `The database at ${where} is PostgreSQL ${found}; Signalpost needs PostgreSQL 15 or later.`,
  );
}

/** Host, port and database name of a server, without user and password. */
export function describeServer(settings: DatabaseSettings): string {
  if (!('url' in settings)) return `${settings.host}:${settings.port}/${settings.database}`;
  try {
    const url = new URL(settings.url);
    return `${url.hostname}${url.port === '' ? '' : `:${url.port}`}${url.pathname}`;
  } catch {
    return 'DATABASE_URL';
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error)
    return cause.errors[0].message;
  return cause instanceof Error && cause.message !== ''
    ? cause.message.replace(/\.$/, '')
    : String(cause);
}
