import { EventEmitter } from 'node:events';
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { serviceSchema } from '../../base/database/service-schema.ts';
import { type DatabaseEndpoint, removeTemporarySocketFolder } from './choose-endpoint.ts';
import { clearLeftovers } from './clear-leftovers.ts';
import { type ClusterSetting, writeClusterSettings } from './cluster-settings.ts';
import type { DataFolder } from './data-folder.ts';
import { withClient } from './database-client.ts';
import { type EmbeddedLog, limitDatabaseLog } from './database-log.ts';
import { type ConnectionSettings, DATABASE_NAME, SERVICE_ROLE } from './database-password.ts';
import type { PostgresPrograms } from './postgres-program.ts';
import { type Postmaster, startPostmaster } from './postmaster.ts';
import { type ServiceLock, writeInfoFile } from './service-lock.ts';

/** Schemas of the service, also of webhook jobs in 0.2, which a migration drops. Other schemas keep their owner. */
const SCHEMAS = ['public', serviceSchema, 'graphile_worker'];

/**
 * Gives the service an unprivileged role that owns its database (ASVS 4.0.3 1.2.1, 1.2.2), so that a vulnerable
 * statement can't reach files or programs of the machine. In clusters of release 0.1.0, where the superuser owns
 * everything, ownership is transferred.
 *
 * Runs before the database is used. After a crash between statements, the next start does the rest.
 */
async function prepareServiceRole(
  admin: ConnectionSettings,
  service: ConnectionSettings,
): Promise<void> {
  // The service's role may create functions in `public`, which must not shadow PostgreSQL's own here.
  const settings = { ...admin, options: '-c search_path=pg_catalog,pg_temp' };
  await withClient(settings, async (client) => {
    await ensureRole(client, service.password);
    for (const statement of await ownershipStatements(client)) await client.query(statement);
  });
}

/** Sets password and attributes each time, which repairs a lost password file or an altered role. */
async function ensureRole(client: pg.Client, password: string): Promise<void> {
  const found = await client.query('select from pg_roles where rolname = $1', [SERVICE_ROLE]);
  if (found.rowCount === 0) await client.query(`create role ${SERVICE_ROLE}`);
  // base64url has no characters that are special in SQL strings.
  await client.query(
    `alter role ${SERVICE_ROLE} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password '${password}'`,
  );
  // The event followers wait for the oldest transaction, so they must see sessions of other roles.
  await client.query(`grant pg_read_all_stats to ${SERVICE_ROLE}`);
}

/** A statement for each object that the service should own but doesn't; the database itself comes last. */
async function ownershipStatements(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(foreignObjects, [
    SCHEMAS,
    SERVICE_ROLE,
    DATABASE_NAME,
  ]);
  return rows.map((row) => row.statement);
}

/**
 * Indexes, row types and column sequences follow their tables. Members of extensions belong to their extension. The
 * schema `public` belongs to the database owner implicitly.
 */
const foreignObjects = `
  with service as (select oid from pg_roles where rolname = $2),
  spaces as (select oid, nspname, nspowner from pg_namespace where nspname = any ($1)),
  found (place, statement) as (
    select 1, format('alter schema %I owner to %I', nspname, $2) from spaces
      where nspowner <> (select oid from service) and nspname <> 'public'
    union all
    select 2, format('alter %s %I.%I owner to %I',
        case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence'
          when 'f' then 'foreign table' when 'c' then 'type' else 'table' end, nspname, relname, $2)
      from pg_class join spaces on spaces.oid = relnamespace
      where relkind in ('r', 'p', 'v', 'm', 'S', 'f', 'c') and relowner <> (select oid from service)
        and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid
          and (deptype = 'e' or relkind = 'S' and deptype in ('a', 'i')))
    union all
    select 3, format('alter routine %s owner to %I', pg_proc.oid::regprocedure, $2)
      from pg_proc join spaces on spaces.oid = pronamespace
      where proowner <> (select oid from service)
        and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')
    union all
    select 4, format('alter type %I.%I owner to %I', nspname, typname, $2)
      from pg_type join spaces on spaces.oid = typnamespace
      where typtype in ('e', 'd', 'r') and typowner <> (select oid from service)
        and not exists (select from pg_depend where classid = 'pg_type'::regclass and objid = pg_type.oid and deptype in ('i', 'e'))
    union all
    select 5, format('alter statistics %I.%I owner to %I', nspname, stxname, $2)
      from pg_statistic_ext join spaces on spaces.oid = stxnamespace where stxowner <> (select oid from service)
    union all
    select 6, format('alter database %I owner to %I', datname, $2)
      from pg_database where datname = $3 and datdba <> (select oid from service))
  select statement from found order by place`;

interface EmbeddedDatabaseDependencies {
  readonly folder: DataFolder;
  readonly lock: ServiceLock;
  readonly programs: PostgresPrograms;
  readonly endpoint: DatabaseEndpoint;
  readonly admin: ConnectionSettings;
  readonly settings: ConnectionSettings;
  readonly durable: boolean;
  readonly moreSettings: readonly ClusterSetting[];
  readonly log: EmbeddedLog;
}

const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 5_000;
/** After running this long (in milliseconds), a database is not in a crash loop. */
const STABLE_AFTER_MS = 30_000;
const CHECK_INTERVAL_MS = 1_000;

/**
 * A supervised PostgreSQL server.
 *
 * `starting → up ⇄ down → stopped`: up while it responds; down from an unexpected exit until a new one responds;
 * stopped by `stop()`, from any state.
 * Events: `down` (it exited; dependents should return 503) and `up` (it responds again).
 */
export class EmbeddedDatabase extends EventEmitter<{ down: []; up: [] }> {
  /** For the unprivileged role that owns the service's database. */
  readonly settings: ConnectionSettings;
  /** For the superuser: cluster administration, such as new databases. */
  readonly admin: ConnectionSettings;
  readonly #dependencies: EmbeddedDatabaseDependencies;
  readonly #stopping = new AbortController();
  readonly #checkTimer: NodeJS.Timeout;
  #postmaster: Postmaster | undefined;
  #launching: Promise<void> | undefined;
  #restartDelayMs = FIRST_DELAY_MS;
  #stopped: Promise<void> | undefined;

  constructor(dependencies: EmbeddedDatabaseDependencies) {
    super();
    this.#dependencies = dependencies;
    this.settings = dependencies.settings;
    this.admin = dependencies.admin;
    this.#checkTimer = setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref();
  }

  /** The files of this database. */
  get folder(): DataFolder {
    return this.#dependencies.folder;
  }

  /** Process id of the running PostgreSQL; undefined while there is none. */
  get pid(): number | undefined {
    return this.#postmaster?.pid;
  }

  /** The first start; if it fails, everything is stopped. */
  async start(signal: AbortSignal | undefined): Promise<void> {
    const stop = () => void this.stop();
    signal?.addEventListener('abort', stop);
    try {
      signal?.throwIfAborted();
      await this.#launch();
      signal?.throwIfAborted();
    } catch (error) {
      await this.stop();
      throw signal?.aborted ? signal.reason : error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Publishes the service's URL for other processes that find the folder in use. */
  announce(url: string): void {
    this.#dependencies.lock.announce(url);
  }

  /** Stops PostgreSQL and releases the data folder; can be called in any state and repeatedly. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { endpoint, lock } = this.#dependencies;
    this.#stopping.abort();
    clearInterval(this.#checkTimer);
    try {
      await this.#postmaster?.stop();
      // A launch in progress still uses the folder, so release the lock afterwards.
      await this.#launching?.catch(() => undefined);
      this.#publishConnection(undefined);
      removeTemporarySocketFolder(endpoint);
    } finally {
      lock.release();
    }
  }

  /** Runs once a second: limits the log's size and finishes a shutdown that another process began. */
  #check(): void {
    try {
      this.#postmaster?.forceStopIfStopping();
      limitDatabaseLog(this.#dependencies.folder);
    } catch (error) {
      this.#dependencies.log.warn({ reason: String(error) }, 'could not truncate the database log');
    }
  }

  #launch(): Promise<void> {
    this.#launching = this.#launchPostmaster();
    return this.#launching;
  }

  /** Starts PostgreSQL, and supervises it once it responds. */
  async #launchPostmaster(): Promise<void> {
    const { folder, programs, endpoint, durable, moreSettings, log, admin, settings } =
      this.#dependencies;
    await clearLeftovers(folder, endpoint, log);
    this.#stopping.signal.throwIfAborted();
    writeClusterSettings(folder, endpoint, programs.user, durable, moreSettings);
    const postmaster = startPostmaster(folder, programs, log);
    this.#postmaster = postmaster;
    await postmaster.ready();
    // Before publishing how others can connect.
    await prepareServiceRole(admin, settings);
    const { password: _secret, ...connectionInfo } = settings;
    this.#publishConnection(connectionInfo);
    const readyAt = Date.now();
    void postmaster.ended.then((reason) => {
      if (this.#stopping.signal.aborted) return;
      if (Date.now() - readyAt > STABLE_AFTER_MS) this.#restartDelayMs = FIRST_DELAY_MS;
      void this.#recover(reason);
    });
  }

  /** Restarts PostgreSQL after an unexpected exit, retrying until it runs or `stop()` is called. */
  async #recover(reason: string): Promise<void> {
    const { log } = this.#dependencies;
    this.#postmaster = undefined;
    this.#publishConnection(undefined);
    log.warn({ reason }, 'the database exited; restarting it');
    this.emit('down');
    for (;;) {
      try {
        await delay(this.#restartDelayMs, undefined, { signal: this.#stopping.signal });
        this.#restartDelayMs = Math.min(this.#restartDelayMs * 2, MAX_DELAY_MS);
        await this.#launch();
        break;
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        log.warn({ reason: String(error) }, 'the database does not start; retrying');
      }
    }
    log.info({}, 'the database is back');
    this.emit('up');
  }

  /** Writes how other processes of this installation can connect, or removes that file. */
  #publishConnection(connectionInfo: object | undefined): void {
    const { folder, log } = this.#dependencies;
    try {
      if (connectionInfo) writeInfoFile(folder.databaseInfoFile, connectionInfo);
      else rmSync(folder.databaseInfoFile, { force: true });
    } catch (error) {
      // Not fatal, for example on a full disk, because the service itself doesn't need the file.
      log.warn({ reason: String(error) }, `could not write ${folder.databaseInfoFile}`);
    }
  }
}
