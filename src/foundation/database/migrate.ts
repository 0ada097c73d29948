import type pg from 'pg';
import { OperatorError } from '../errors.ts';
import { buildIndexes, buildsConcurrently } from './build-indexes.ts';
import { type Migration, readMigrations, worksAfter } from './migration-files.ts';
import type { Database } from './open-database.ts';
import { prepareSchema } from './prepare-schema.ts';
import { awaitSessionLock, releaseSessionLock } from './session-lock.ts';

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
