import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import pg from 'pg';
import { roleOf, withDatabase } from '../../scripts/scratch-database.ts';
import { type Database, openDatabase } from '../../src/base/database/open-database.ts';
import { testApplication } from './account-first.ts';
import { recordStatements } from './record-statements.ts';
import { TestClock, testClockOptions } from './test-clock.ts';

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set; run tests with: npm test -- FILE`);
  return value;
}

export interface TestDatabase {
  readonly url: string;
  readonly database: Database;
  /** The clock of this database, for services of tests that move the time. */
  readonly clock: TestClock;
}

/** The URL of a role that may create databases. */
export function adminUrl(): string {
  return required('TEST_POSTGRES_URL');
}

/** One connection for all files of the process, which doesn't keep it alive. */
let admin: pg.Pool | undefined;

async function runAsAdmin(statement: string): Promise<void> {
  admin ??= new pg.Pool({
    connectionString: adminUrl(),
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  }).on('error', () => undefined);
  await admin.query(statement);
}

/** Databases of files that have ended. */
const ended: string[] = [];

/** The run's own server is deleted with everything on it; an external server keeps what couldn't be dropped. */
async function dropEnded(): Promise<void> {
  for (const name of ended.splice(0))
    await runAsAdmin(`drop database if exists ${name} with (force)`).catch((error) =>
      process.stderr.write(`${name} is not dropped: ${error}\n`),
    );
}

process.once('beforeExit', dropEnded);

/**
 * A separate migrated database for the test file, cloned from the run's template. It is dropped after the file, by the next
 * file of the process or at its end.
 *
 * @param atEnd adds a hook to the end of its use
 */
export async function createTestDatabase(
  atEnd: (hook: () => Promise<void>) => void = after,
): Promise<TestDatabase> {
  recordStatements();
  await dropEnded();
  const service = required('TEST_SERVICE_URL');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await runAsAdmin(
    `create database ${name} template ${required('TEST_TEMPLATE_DATABASE')} strategy file_copy owner ${roleOf(service)}`,
  );
  const own = new URL(withDatabase(service, name));
  own.searchParams.set('options', testClockOptions);
  const url = own.href;
  const database = openDatabase({ url }, { applicationName: testApplication });
  atEnd(async () => {
    await database.close();
    // Hooks run in registration order: what the file started is still running and needs its database to stop.
    ended.push(name);
  });
  return { url, database, clock: new TestClock(database.pool) };
}
