import type pg from 'pg';
import { migrate } from '../../src/base/database/migrate.ts';
import { readMigrations } from '../../src/base/database/migration-files.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

/** The last migration of release 0.2. */
const lastOfRelease02 = 80;

export interface ReleasedDatabase extends TestDatabase {
  readonly pool: pg.Pool;
  /** Applies the migrations that came after the release. */
  upgrade(): Promise<void>;
}

/** A separate empty database with the schema of release 0.2. */
export async function createReleasedDatabase(): Promise<ReleasedDatabase> {
  const created = await createTestDatabase();
  const { database } = created;
  await database.pool.query('drop schema signalpost cascade');
  const migrations = await readMigrations();
  await migrate(
    database,
    migrations.filter(({ version }) => version <= lastOfRelease02),
  );
  return {
    ...created,
    pool: database.pool,
    upgrade: async () => {
      await migrate(database);
    },
  };
}
