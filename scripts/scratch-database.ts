import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { migrate } from '../src/base/database/migrate.ts';
import { type Database, openDatabase } from '../src/base/database/open-database.ts';
import { startTestPostgres } from './test-postgres.ts';

/** Runs a statement in the database that `url` names. */
export async function runAdminStatement(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The role of a URL as a quoted SQL identifier. */
export function roleOf(url: string): string {
  const { username } = new URL(url);
  return username === '' ? 'current_user' : pg.escapeIdentifier(decodeURIComponent(username));
}

/** The same URL with another database. */
export function withDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

/** Calls a function with a migrated database on a temporary server, then removes both. */
export async function withScratchDatabase(
  use: (database: Database, url: string) => Promise<void>,
): Promise<void> {
  const postgres = await startTestPostgres();
  const name = `scratch_${randomBytes(6).toString('hex')}`;
  const url = withDatabase(postgres.url, name);
  try {
    await runAdminStatement(postgres.url, `create database ${name}`);
    const database = openDatabase({ url });
    try {
      await migrate(database);
      await use(database, url);
    } finally {
      await database.close();
      await runAdminStatement(postgres.url, `drop database ${name} with (force)`);
    }
  } finally {
    await postgres.stop();
  }
}
