import { spawn } from 'node:child_process';
import { glob } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, sep } from 'node:path';
import { migrate } from '../src/foundation/database/migrate.ts';
import { openDatabase } from '../src/foundation/database/open-database.ts';
import { importingFiles } from './importing-files.ts';
import { roleOf, runAdminStatement, withDatabase } from './scratch-database.ts';
import { startTestPostgres } from './test-postgres.ts';

/**
 * Runs the tests of a folder, or of the given files and folders, on one PostgreSQL with a migrated template database that each
 * file clones. With TEST_POSTGRES_BIN, runs only files whose result depends on the server, and skips slow ones that repeat the
 * statements of others.
 */
const testDatabase = 'test/support/test-database.ts';
const skippedFolders = [join('test', 'command', sep), join('test', 'hostile', sep)];
const [folder = 'test', ...rest] = process.argv.slice(2);
const options = rest.filter((argument) => argument.startsWith('-'));
const wanted = rest.filter((argument) => !argument.startsWith('-'));
const found = (await Promise.all((wanted.length > 0 ? wanted : [folder]).map(filesOf))).flat();
const files = process.env.TEST_POSTGRES_BIN ? await selectDatabaseTests(found) : found;

const template = `signalpost_template_${process.pid}`;
const postgres = await startTestPostgres();
try {
  await runAdminStatement(
    postgres.url,
    `create database ${template} owner ${roleOf(postgres.serviceUrl)}`,
  );
  const database = openDatabase({ url: withDatabase(postgres.serviceUrl, template) });
  await migrate(database);
  await database.close();
  process.exitCode = await run();
  await runAdminStatement(postgres.url, `drop database ${template} with (force)`);
} finally {
  await postgres.stop();
}

function run(): Promise<number> {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--test',
      // Most files mainly wait for processes and databases; those with browsers don't.
      `--test-concurrency=${Math.max(2, availableParallelism() + (folder === 'test-system' ? 0 : 2))}`,
      '--test-reporter=spec',
      `--test-timeout=${folder === 'test-long' ? 1_800_000 : 300_000}`,
      ...options,
      ...files,
    ],
    {
      stdio: 'inherit',
      env: {
        // Shared by all test processes.
        NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/compiled'),
        ...process.env,
        TEST_POSTGRES_URL: postgres.url,
        TEST_SERVICE_URL: postgres.serviceUrl,
        TEST_TEMPLATE_DATABASE: template,
      },
    },
  );
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

async function selectDatabaseTests(all: readonly string[]): Promise<string[]> {
  const used = await importingFiles(all, testDatabase);
  return wanted.length > 0
    ? used
    : used.filter((file) => !skippedFolders.some((skipped) => file.startsWith(skipped)));
}

async function filesOf(name: string): Promise<string[]> {
  if (name.endsWith('.ts')) return [name];
  return (await Array.fromAsync(glob(`${name}/**/*.test.ts`))).sort();
}
