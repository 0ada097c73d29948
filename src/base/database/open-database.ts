import { Kysely as Builder, PostgresDialect } from 'kysely';
import pg from 'pg';
import { OperatorError } from '../values/errors.ts';
import { splitDatabaseUrl } from './database-url.ts';
import { PrimaryFinder } from './primary-finder.ts';
import { ServiceClient, type ServiceClientConfig } from './service-client.ts';
import { serviceSchema } from './service-schema.ts';
import { codeOf } from './sqlstate.ts';
import type { DB } from './tables.generated.ts';

/** How to connect: a URL, or the connection settings of the embedded database. */
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

/** Runs statements in a transaction, or each separately on the pool. */
export type DatabaseTransaction = Kysely;

/** Runs statements in a transaction, or each separately on the pool. */
export type Kysely = Builder<Tables>;

/** A connection pool with the typed query builder on top. Stores use `kysely`; hot paths can use `pool`. */
export interface Database {
  readonly kysely: Kysely;
  readonly pool: pg.Pool;
  /**
   * For queue statements, with sequential scans disabled: a cached plan made while the queue was empty would otherwise keep
   * scanning it after it has grown.
   */
  readonly queuePool: pg.Pool;
  /**
   * For the statements of followers and webhooks, each planned once per connection: planning them takes longer than running them.
   * Sequential scans are disabled for the same reason as the queue’s.
   */
  readonly followKysely: Kysely;
  readonly settings: DatabaseSettings;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string;
  /** Max connections of its main pool; the others have at most half as many. */
  readonly maxConnections?: number;
  /** Milliseconds to wait for a response before dropping the connection. */
  readonly statementTimeoutMs?: number;
}

/** Longer than any statement takes, except those of migrations, which set their own timeout. */
const defaultStatementTimeoutMs = 60_000;

/** How long connecting may take. */
const connectTimeoutMs = 5_000;

/** How soon an idle connection is probed; it fails about ten seconds later if the server's host has vanished. */
const keepAliveDelayMs = 3_000;

/** Client settings shared by all connections of the service, for a `ServiceClient`. */
export function clientSettings(
  settings: DatabaseSettings,
  applicationName = 'signalpost',
): ServiceClientConfig {
  const servers = 'url' in settings ? splitDatabaseUrl(settings.url).map(parseDatabaseUrl) : [];
  return {
    options: joinOptions(),
    ...('url' in settings ? servers[0] : settings),
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    finder: 'url' in settings && servers.length > 1 ? finderOf(settings.url, servers) : undefined,
  };
}

/** One for all connections of the process to the same servers. */
const finders = new Map<string, PrimaryFinder>();

function finderOf(url: string, servers: readonly pg.ClientConfig[]): PrimaryFinder {
  const finder = finders.get(url) ?? new PrimaryFinder(servers);
  finders.set(url, finder);
  return finder;
}

// An accepted message must be on disk before the response, whatever the server's default.
const requiredOptions =
  '-c synchronous_commit=on -c timezone=UTC -c jit=off -c signalpost.settings=kept';

/** The last of duplicate options wins. */
function joinOptions(own = ''): string {
  return `-c search_path=${serviceSchema},public ${own} ${requiredOptions}`;
}

/** Options in the URL would replace ours, so both are merged. */
function parseDatabaseUrl(text: string): pg.ClientConfig {
  const url = URL.parse(text);
  const own = url?.searchParams.get('options');
  if (url === null || own === undefined || own === null) return { connectionString: text };
  url.searchParams.delete('options');
  return { connectionString: url.href, options: joinOptions(own) };
}

/**
 * Opens a pool without connecting yet. A broken idle connection is dropped silently; the next statement reports the error.
 */
export function openDatabase(settings: DatabaseSettings, options: DatabaseOptions = {}): Database {
  const client = clientSettings(settings, options.applicationName);
  const openPool = (given: pg.PoolConfig & ServiceClientConfig): pg.Pool => {
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
  const { maxConnections = 10 } = options;
  const pool = openPool({ max: maxConnections });
  const few = Math.min(4, Math.ceil(maxConnections / 2));
  const queuePool = openPool({ max: few, options: `${client.options} -c enable_seqscan=off` });
  const followPool = openPool({
    max: few,
    options: `${client.options} -c plan_cache_mode=force_generic_plan -c enable_seqscan=off`,
    preparesAll: true,
  });
  return {
    kysely: new Builder<Tables>({ dialect: new PostgresDialect({ pool }) }),
    pool,
    queuePool,
    followKysely: new Builder<Tables>({ dialect: new PostgresDialect({ pool: followPool }) }),
    settings,
    async close() {
      await Promise.all([pool.end(), queuePool.end(), followPool.end()]);
    },
  };
}

/**
 * Handles the error event of connections in use, which would otherwise end the process; the statement already fails with the
 * error. The pool itself only listens on idle connections.
 */
export function ignoreIdleErrors(pool: pg.Pool): void {
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
}

const minServerVersion = 150_000;

/**
 * Fails if the server is unreachable, older than PostgreSQL 15 or a standby, or if something in between drops settings.
 * @throws OperatorError with a message that never contains the URL's password
 */
export async function requireServer(database: Database): Promise<void> {
  const where = describeServer(database.settings);
  const { version, standby, settings } = await readServer(database).catch((cause: unknown) => {
    if (codeOf(cause) === protocolViolation) throw droppedSettings(where, cause);
    throw new OperatorError(`Can’t use the database at ${where}: ${reasonOf(cause)}.`, { cause });
  });
  requireServerVersion(where, Number(version));
  if (standby)
    throw new OperatorError(
      `The database at ${where} is a standby, which accepts no writes. In DATABASE_URL, use the primary’s host, or list all hosts: postgres://user:password@host1,host2/name?target_session_attrs=read-write.`,
    );
  if (settings !== 'kept') throw droppedSettings(where);
}

async function readServer({ pool }: Database) {
  const { rows } = await pool.query<{
    version: string;
    standby: boolean;
    settings: string | null;
  }>(
    `select current_setting('server_version_num') as version, pg_is_in_recovery() as standby,
       current_setting('signalpost.settings', true) as settings`,
  );
  const [server] = rows;
  if (server === undefined) throw new Error('the server did not describe itself');
  return server;
}

/** How PgBouncer refuses the settings of a connection. */
const protocolViolation = '08P01';

function droppedSettings(where: string, cause?: unknown): OperatorError {
  return new OperatorError(
    `The connection to ${where} loses its settings on the way, as in a pooler. In DATABASE_URL, use PostgreSQL’s own port, usually 5432: Signalpost pools its connections itself.`,
    { cause },
  );
}

/**
 * @param version `server_version_num` of the server: 140023 for 14.23
 * @throws OperatorError if the server is older than PostgreSQL 15
 */
export function requireServerVersion(where: string, version: number): void {
  if (version >= minServerVersion) return;
  const found = `${Math.floor(version / 10_000)}.${version % 10_000}`;
  throw new OperatorError(
    `The database at ${where} is PostgreSQL ${found}; Signalpost needs PostgreSQL 15 or later.`,
  );
}

/** Hosts, ports and database name, without user and password. */
export function describeServer(settings: DatabaseSettings): string {
  if (!('url' in settings)) return `${settings.host}:${settings.port}/${settings.database}`;
  try {
    const urls = splitDatabaseUrl(settings.url).map((url) => new URL(url));
    const hosts = urls.map(({ hostname, port }) => `${hostname}${port === '' ? '' : `:${port}`}`);
    return `${hosts.join(',')}${urls[0]?.pathname}`;
  } catch {
    return 'DATABASE_URL';
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error)
    return cause.errors[0].message;
  // The driver's text repeats itself.
  if (cause instanceof Error && /due to connection timeout/.test(cause.message))
    return `no response within ${connectTimeoutMs / 1_000} seconds`;
  return cause instanceof Error && cause.message !== ''
    ? cause.message.replace(/\.$/, '')
    : String(cause);
}
