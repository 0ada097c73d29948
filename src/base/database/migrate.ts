import pg from 'pg';
import { OperatorError } from '../values/errors.ts';
import { awaitSessionLock, releaseSessionLock } from './advisory-locks.ts';
import { type Migration, readMigrations, splitStatements, worksAfter } from './migration-files.ts';
import type { Database } from './open-database.ts';
import { serviceSchema } from './service-schema.ts';

interface DatabaseState {
  readonly name: string;
  readonly role: string;
  readonly encoding: string;
  /** The schema of an installation. */
  readonly installed: string | null;
  /** The first schema of the search path that exists and can be used. */
  readonly first: string | null;
  /** False if DATABASE_URL has another search path. */
  readonly wants_own: boolean;
  readonly has_own: boolean;
  readonly has_language: boolean;
  readonly can_create: boolean;
}

const readState = `select current_database() as name, current_user as role, getdatabaseencoding() as encoding,
  (select nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid = to_regclass('schema_migration')) as installed,
  current_schema()::text as first,
  current_setting('search_path') ~ ('(^|[, "])' || $1 || '($|[, "])') as wants_own,
  exists (select from pg_namespace where nspname = $1) as has_own,
  exists (select from pg_language where lanname = 'plpgsql') as has_language,
  has_database_privilege(current_database(), 'create') as can_create`;

/**
 * Makes the connection create objects in the schema of the installation: the existing one, or a new one. Installations
 * that began with 0.1 stay in `public`.
 * @throws OperatorError with the statement that helps, if something about the database prevents it
 */
export async function prepareSchema(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<DatabaseState>(readState, [serviceSchema]);
  const [state] = rows;
  if (state === undefined) throw new Error('the database did not describe itself');
  if (state.installed === null) requireUsable(state);
  if (state.installed === null && state.wants_own && !state.has_own)
    await client.query(`create schema if not exists ${serviceSchema}`);
  const schema = state.installed ?? (state.wants_own ? serviceSchema : state.first);
  if (schema === null)
    throw new OperatorError('No schema of the search_path in DATABASE_URL exists.');
  await requireCreate(client, schema, state.role);
  await client.query(
    "select set_config('search_path', $1 || ', ' || current_setting('search_path'), false)",
    [pg.escapeIdentifier(schema)],
  );
}

/** Checks an empty database. */
function requireUsable(state: DatabaseState): void {
  const { name, encoding } = state;
  const [database, role] = [pg.escapeIdentifier(name), pg.escapeIdentifier(state.role)];
  if (!state.has_language)
    throw new OperatorError(
      `The database ${name} has no language plpgsql. As its owner, run in it: create extension plpgsql;`,
    );
  if (encoding !== 'UTF8')
    throw new OperatorError(
      `The database ${name} has the encoding ${encoding}, which can’t store every text. Use another one: create database ${pg.escapeIdentifier(`${name}_utf8`)} owner ${role} encoding 'UTF8' template template0;`,
    );
  if (state.wants_own && !state.has_own && !state.can_create)
    throw new OperatorError(
      `The role ${state.role} can’t create schemas in the database ${name}. As its owner, run: grant create on database ${database} to ${role};`,
    );
}

async function requireCreate(client: pg.ClientBase, schema: string, role: string): Promise<void> {
  const { rows } = await client.query<{ allowed: boolean }>(
    "select has_schema_privilege($1, 'create') as allowed",
    [schema],
  );
  if (rows[0]?.allowed === true) return;
  const name = pg.escapeIdentifier(schema);
  throw new OperatorError(
    `The role ${role} can’t create tables in the schema ${schema}. As its owner, run in the same database: grant create, usage on schema ${name} to ${pg.escapeIdentifier(role)};`,
  );
}

const indexPattern =
  /^create (?<unique>unique )?index concurrently (?<name>\w+) on (?<table>\w+) (?<definition>.+)$/i;

/** Indexes of partitions add a number to the name, and names have at most 63 bytes. */
const maxNameLength = 50;

interface IndexDefinition {
  readonly unique: string;
  readonly name: string;
  readonly table: string;
  /** What follows the table's name. */
  readonly definition: string;
}

type RunStatement = (text: string) => Promise<pg.QueryResult>;

/** Whether a migration builds indexes while rows are written, so it can't run in a transaction. */
function buildsConcurrently(sql: string): boolean {
  return splitStatements(sql).some((statement) => /^create [\w ]*concurrently/i.test(statement));
}

/**
 * The indexes that a migration builds.
 * @throws if the migration contains anything else, because it may run several times
 */
export function parseIndexes(sql: string): IndexDefinition[] {
  return splitStatements(sql).map((statement) => {
    const {
      unique = '',
      name = '',
      table = '',
      definition = '',
    } = indexPattern.exec(statement)?.groups ?? {};
    if (name === '' || name.length > maxNameLength)
      throw new Error(
        `a migration with a concurrent index consists of “create index concurrently NAME on TABLE …”, with names of at most ${maxNameLength} characters: ${statement}`,
      );
    return { unique, name, table, definition };
  });
}

/**
 * Builds indexes while rows are read and written (`create index concurrently`), also on partitioned tables, for which
 * PostgreSQL can't: each partition gets its index, which that of the table then takes in without building it. Continues where
 * a process that was killed stopped: finished indexes, also of single partitions, are kept.
 * @param run runs a statement outside a transaction, for as long as it takes
 */
export async function buildIndexes(run: RunStatement, sql: string): Promise<void> {
  for (const { unique, name, table, definition } of parseIndexes(sql)) {
    const { rows } = await run(`select relid::oid as id, relid::text as table
      from pg_partition_tree('${table}') where isleaf`);
    if (rows.length === 0) {
      await buildIndex(run, { unique, name, table, definition });
      continue;
    }
    for (const { id, table: partition } of rows) {
      try {
        await buildIndex(run, { unique, name: `${name}_${id}`, table: partition, definition });
      } catch (error) {
        if (!(await isGone(run, id))) throw error;
      }
    }
    await run(`create ${unique}index if not exists ${name} on ${table} ${definition}`);
  }
}

async function buildIndex(run: RunStatement, index: IndexDefinition): Promise<void> {
  const { unique, name, table, definition } = index;
  // A build that failed or was killed leaves an invalid index, which slows writes and serves no reads.
  const { rows } = await run(
    `select from pg_index where indexrelid = to_regclass('${name}') and not indisvalid`,
  );
  if (rows.length > 0) await run(`drop index concurrently ${name}`);
  await run(`create ${unique}index concurrently if not exists ${name} on ${table} ${definition}`);
}

/** Whether a partition was dropped, because its messages were too old. */
async function isGone(run: RunStatement, id: number): Promise<boolean> {
  const { rows } = await run(`select from pg_class where oid = ${id}`);
  return rows.length === 0;
}

/** A day, because a migration may index all stored data, and other nodes wait for it. */
const migrationTimeoutMs = 24 * 60 * 60 * 1000;

function withMigrationTimeout(text: string): pg.QueryConfig {
  const bounded = { text, query_timeout: migrationTimeoutMs };
  return bounded;
}

/**
 * Migrates the database to this release under the lock, each migration in its own transaction or, if it builds indexes
 * while rows are written, in steps that can be repeated. Migrations that would break running processes of an older release
 * are left for later.
 * @returns the names of the migrations applied
 * @throws OperatorError if a newer release migrated the database to a schema that this one can't run with, if the
 *   database can't be used, or if a released migration was edited
 */
export async function migrate(
  database: Database,
  migrations?: readonly Migration[],
): Promise<string[]> {
  const known = migrations ?? (await readMigrations());
  const client = await database.pool.connect();
  try {
    await awaitSessionLock(client, 'migrations');
    try {
      await prepareSchema(client);
      return await applyMissing(client, known);
    } finally {
      await client.query('reset search_path');
      await releaseSessionLock(client, 'migrations');
    }
  } finally {
    client.release();
  }
}

async function applyMissing(
  client: pg.PoolClient,
  migrations: readonly Migration[],
): Promise<string[]> {
  await client.query(
    'create table if not exists schema_migration (version integer primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now())',
  );
  const applied = await appliedMigrations(client);
  requireSameMigrations(applied, migrations);
  const done: string[] = [];
  for (const migration of migrations) {
    if (applied.has(migration.version) || (await hasOlderProcesses(client, migration))) continue;
    if (buildsConcurrently(migration.sql)) {
      await buildIndexes((text) => client.query(withMigrationTimeout(text)), migration.sql);
      await recordMigration(client, migration);
    } else await applyInTransaction(client, migration);
    done.push(migration.name);
  }
  return done;
}

async function applyInTransaction(client: pg.PoolClient, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query(withMigrationTimeout(migration.sql));
    await recordMigration(client, migration);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

async function recordMigration(
  client: pg.PoolClient,
  { version, name, sha256 }: Migration,
): Promise<void> {
  await client.query('insert into schema_migration (version, name, sha256) values ($1, $2, $3)', [
    version,
    name,
    sha256,
  ]);
}

/** Whether a running process needs what a migration removes. Processes report every 3 seconds. */
async function hasOlderProcesses(
  client: pg.PoolClient,
  { contractsAfter }: Migration,
): Promise<boolean> {
  if (contractsAfter === undefined) return false;
  const { rows } = await client.query<{ found: boolean }>(
    `select exists (select from key_node
      where seen_at > now() - interval '15 seconds' and coalesce(latest_migration, 0) < $1) as found`,
    [contractsAfter],
  );
  return rows[0]?.found === true;
}

interface AppliedMigration {
  readonly name: string;
  readonly sha256: string;
}

async function appliedMigrations(
  client: pg.PoolClient | pg.Pool,
): Promise<Map<number, AppliedMigration>> {
  const { rows } = await client.query<AppliedMigration & { version: number }>(
    'select version, name, sha256 from schema_migration',
  );
  return new Map(rows.map(({ version, ...migration }) => [version, migration]));
}

function requireSameMigrations(
  applied: ReadonlyMap<number, AppliedMigration>,
  migrations: readonly Migration[],
): void {
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  const latest = latestOf(migrations);
  for (const [version, { name, sha256 }] of applied) {
    const migration = known.get(version);
    if (migration === undefined) {
      if (worksAfter(name, latest)) continue;
      throw new OperatorError(
        `The database was migrated by a newer Signalpost, and this one can’t run with its migration ${version}. Start that release or a later one.`,
      );
    }
    if (migration.sha256 !== sha256) {
      throw new OperatorError(
        `The file migrations/${migration.name} differs from the version applied to the database. Restore it and add a new migration instead.`,
      );
    }
  }
}

function latestOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

/** The last migration of this release, by which other releases know what it can run with. */
export async function readLatestMigration(): Promise<number> {
  return latestOf(await readMigrations());
}

/** The pending migrations; all of them if the database is empty. */
export async function findMissingMigrations(database: Database): Promise<Migration[]> {
  const migrations = await readMigrations();
  const { rows } = await database.pool.query<{ exists: boolean }>(
    "select to_regclass('schema_migration') is not null as exists",
  );
  const applied = rows[0]?.exists === true ? await appliedMigrations(database.pool) : new Map();
  requireSameMigrations(applied, migrations);
  return migrations.filter(({ version }) => !applied.has(version));
}

/**
 * True if this release runs with the database: it has the migrations of this release, except those that wait for older
 * processes to end, and of later releases only ones that leave what this one uses.
 */
export async function isSchemaCurrent(database: Database): Promise<boolean> {
  const [applied, migrations] = await Promise.all([
    appliedMigrations(database.pool),
    readMigrations(),
  ]);
  const latest = latestOf(migrations);
  const known = new Set(migrations.map(({ version }) => version));
  return (
    migrations.every(({ version, sha256, contractsAfter }) => {
      const found = applied.get(version);
      return found === undefined ? contractsAfter !== undefined : found.sha256 === sha256;
    }) &&
    [...applied].every(([version, { name }]) => known.has(version) || worksAfter(name, latest))
  );
}
