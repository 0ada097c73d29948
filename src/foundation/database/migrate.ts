import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { OperatorError } from '../errors.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './open-database.ts';
import { prepareSchema } from './prepare-schema.ts';

const folder = new URL('../../../migrations/', import.meta.url);
const fileName = /^(\d{4})-[a-z0-9-]+\.sql$/;

/** A day, because a migration may index all stored data, and other nodes wait for it. */
const migrationTimeoutMs = 24 * 60 * 60 * 1000;

function withMigrationTimeout(text: string, values?: unknown[]): pg.QueryConfig {
  const bounded = { text, query_timeout: migrationTimeoutMs };
  return values === undefined ? bounded : { ...bounded, values };
}

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
}

/** The migrations of this release in order. They are forward-only; released files are never edited. */
export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => fileName.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      const sha256 = createHash('sha256').update(sql).digest('hex');
      return { version: Number(name.slice(0, 4)), name, sql, sha256 };
    }),
  );
}

/**
 * Migrates the database to this release, each migration in its own transaction, under the lock.
 * @returns the names of the migrations applied
 * @throws OperatorError if the database is newer than this release, can't be used, or a released migration was edited
 */
export async function migrate(database: Database): Promise<string[]> {
  const migrations = await readMigrations();
  const client = await database.pool.connect();
  try {
    await client.query(
      withMigrationTimeout('select pg_advisory_lock($1)', [advisoryLocks.migrations]),
    );
    try {
      await prepareSchema(client);
      return await applyMissing(client, migrations);
    } finally {
      await client.query('reset search_path');
      await client.query('select pg_advisory_unlock($1)', [advisoryLocks.migrations]);
    }
  } finally {
    client.release();
  }
}

async function applyMissing(client: pg.PoolClient, migrations: Migration[]): Promise<string[]> {
  await client.query(
    'create table if not exists schema_migration (version integer primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now())',
  );
  const applied = await appliedMigrations(client);
  requireSameMigrations(applied, migrations);
  const missing = migrations.filter((migration) => !applied.has(migration.version));
  for (const migration of missing) {
    await client.query('begin');
    try {
      await client.query(withMigrationTimeout(migration.sql));
      await client.query(
        'insert into schema_migration (version, name, sha256) values ($1, $2, $3)',
        [migration.version, migration.name, migration.sha256],
      );
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  }
  return missing.map((migration) => migration.name);
}

async function appliedMigrations(client: pg.PoolClient | pg.Pool): Promise<Map<number, string>> {
  const result = await client.query<{ version: number; sha256: string }>(
    'select version, sha256 from schema_migration',
  );
  return new Map(result.rows.map((row) => [row.version, row.sha256]));
}

function requireSameMigrations(applied: Map<number, string>, migrations: Migration[]): void {
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const [version, sha256] of applied) {
    const migration = known.get(version);
    if (migration === undefined) {
      throw new OperatorError(
        `The database was migrated by a newer Signalpost (migration ${version} is unknown to this one). Start that release or a later one.`,
      );
    }
    if (migration.sha256 !== sha256) {
      throw new OperatorError(
        `The file migrations/${migration.name} differs from the version applied to the database. Restore it and add a new migration instead.`,
      );
    }
  }
}

/** The names of the pending migrations; all of them if the database is empty. */
export async function findMissingMigrations(database: Database): Promise<string[]> {
  const migrations = await readMigrations();
  const { rows } = await database.pool.query<{ exists: boolean }>(
    "select to_regclass('schema_migration') is not null as exists",
  );
  const applied = rows[0]?.exists === true ? await appliedMigrations(database.pool) : new Map();
  requireSameMigrations(applied, migrations);
  return migrations.filter(({ version }) => !applied.has(version)).map(({ name }) => name);
}

/** True if the database has exactly the migrations of this release. */
export async function isSchemaCurrent(database: Database): Promise<boolean> {
  const [applied, migrations] = await Promise.all([
    appliedMigrations(database.pool),
    readMigrations(),
  ]);
  return (
    applied.size === migrations.length &&
    migrations.every((migration) => applied.get(migration.version) === migration.sha256)
  );
}
