import { spawn } from 'node:child_process';
import { glob, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, setPriority, tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { migrate } from '../src/base/database/migrate.ts';
import { openDatabase } from '../src/base/database/open-database.ts';
import { createLog } from '../src/base/values/log.ts';
import { ensureMessagePartitions } from '../src/content/message/message-partitions-store.ts';
import { installTestClock } from '../test/support/test-clock.ts';
import { installTools } from '../test-long/support/tools.ts';
import { importingFiles } from './importing-files.ts';
import { roleOf, runAdminStatement, withDatabase } from './scratch-database.ts';
import { createTestDataFolders } from './test-data-folders.ts';
import { startTestPostgres } from './test-postgres.ts';

/**
 * Runs the tests of a folder, or of the given files and folders, on one PostgreSQL with a migrated template database that each
 * file clones. With TEST_POSTGRES_BIN, `npm test` runs only the tests of stores, which depend on how a server locks, notifies,
 * plans and recovers; that it knows all statements is for `check-statements.ts`.
 */
const [folder = 'test', ...rest] = process.argv.slice(2);
const testDatabase = 'test/support/test-database.ts';
const testService = 'test/support/test-service.ts';
const copiedFolders = 'test/support/copy-data-folder.ts';
const chromium = 'test-system/support/open-chromium.ts';
/** Files that flood or measure their process, or change its clock, timers or classes, which services of other files use. */
const ownProcess = [
  'test/base/limiter',
  'test/base/open-database',
  'test/hostile/responses',
  'test/outcomes/tracking/engagement-writer',
  'test/sending/submission/wrong-clock',
  'test-system/hostile/bodies',
  'test-system/hostile/connections',
  'test-system/hostile/endless-lines',
  'test-system/hostile/floods',
  'test-system/hostile/large-bodies',
  'test-system/hostile/management-lock',
  'test-system/hostile/shares',
  'test-system/hostile/smtp-memory',
  'test-system/hostile/smtp-slots',
  'test-system/hostile/thread-priority',
  'test-system/hostile/tiny-pieces',
].map((name) => join(`${name}.test.ts`));
/** More than processors, because most files mainly wait: for databases, timers and other programs. */
const processes = availableParallelism() + 2;
/** Of the slow tests, so few that the last group doesn't run alone for long. */
const filesPerGroup = folder === 'test-system' ? 12 : 100;
/** Files that use a browser are together, and first: it takes seconds to start, and to compile the console for its first page. */
const browserGroups = 2;
const onOtherServers = [
  'base',
  'content/message',
  'sending/submission',
  'sending/queue',
  'sending/delivery',
  'outcomes',
];
/**
 * Most of what tests allocate is short-lived, and all cores are busy: threads that collect garbage would only take turns. A heap
 * that grows from a few megabytes would be collected completely at each step while the service is loaded. Tests that measure,
 * which are in `test-system`, run with the flags of the service.
 */
const garbageFlags = [
  '--initial-old-space-size=512',
  '--min-semi-space-size=16',
  '--max-semi-space-size=32',
  '--no-parallel-scavenge',
];
/** Of each service's main pool. A new one costs PostgreSQL as much as dozens of a test's statements. */
const fewConnections = '4';
const options = rest.filter((argument) => argument.startsWith('-'));
const wanted = rest.filter((argument) => !argument.startsWith('-'));
const found = (await Promise.all((wanted.length > 0 ? wanted : [folder]).map(filesOf))).flat();
const files =
  process.env.TEST_POSTGRES_BIN && folder === 'test' ? await selectDatabaseTests(found) : found;
/**
 * Threads that compile and preview have the lowest priority, 19. In an installation they get what its processes leave; beside
 * tests that keep all processors busy they would hardly run, so the tests' own priority is little more.
 */
setPriority(15);
// Before the tests: several files would install them at the same time.
if (folder === 'test-long') await installTools();
const folderOfGroups = await mkdtemp(join(tmpdir(), 'signalpost-test-groups-'));

const template = `signalpost_template_${process.pid}`;
const postgres = await startTestPostgres();
const dataFolders =
  (await importingFiles(files, copiedFolders)).length > 0
    ? await createTestDataFolders()
    : undefined;
try {
  await runAdminStatement(
    postgres.url,
    `create database ${template} owner ${roleOf(postgres.serviceUrl)}`,
  );
  const database = openDatabase({ url: withDatabase(postgres.serviceUrl, template) });
  await migrate(database);
  // Otherwise, each service that a test starts would create them, while its other connections read the tables.
  await ensureMessagePartitions({ database, log: createLog('silent') });
  await database.pool.query(installTestClock);
  await database.close();
  process.exitCode = await run();
  await runAdminStatement(postgres.url, `drop database ${template} with (force)`);
} finally {
  await rm(folderOfGroups, { recursive: true, force: true });
  await dataFolders?.remove();
  await postgres.stop();
}

async function run(): Promise<number> {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--disable-proto=delete',
      ...(folder === 'test' ? garbageFlags : []),
      '--import',
      new URL('../src/base/threads/lock-intrinsics.ts', import.meta.url).href,
      '--import',
      new URL('test-runner/prepare.ts', import.meta.url).href,
      '--test',
      `--test-concurrency=${processes}`,
      '--test-reporter=spec',
      `--test-timeout=${folder === 'test' ? 600_000 : 1_800_000}`,
      ...options,
      // Patterns for names would have to match the names of files, too.
      ...(options.length === 0 && folder !== 'test-long' ? await groupFiles(files) : files),
    ],
    {
      stdio: 'inherit',
      // The runner waits for a process that never ends, even after its tests' time limit.
      timeout: folder === 'test-long' ? 0 : 3_600_000,
      env: {
        // Shared by all test processes.
        NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/compiled'),
        ...process.env,
        TEST_POSTGRES_URL: postgres.url,
        TEST_SERVICE_URL: postgres.serviceUrl,
        TEST_TEMPLATE_DATABASE: template,
        ...(folder === 'test' && { TEST_CONNECTIONS: fewConnections }),
        ...(dataFolders && { TEST_DATA_FOLDERS: dataFolders.path }),
      },
    },
  );
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

async function selectDatabaseTests(all: readonly string[]): Promise<string[]> {
  const used = await importingFiles(all, testDatabase);
  if (wanted.length > 0) return used;
  const services = new Set(await importingFiles(used, testService));
  const folders = onOtherServers.map((name) => join('test', name, sep));
  return used.filter(
    (file) => !services.has(file) && folders.some((name) => file.startsWith(name)),
  );
}

/**
 * Groups files that share a process one after another, each as a separate test: importing the service takes longer than most
 * files' tests. The groups are the same in each run, so that what a file leaves to the next can be repeated.
 */
async function groupFiles(all: readonly string[]): Promise<string[]> {
  const reader = new URL('test-runner/current-file.ts', import.meta.url).href;
  const alone = all.filter((file) => ownProcess.includes(file));
  const browsing = await importingFiles(all, chromium);
  const others = all.filter((file) => !alone.includes(file) && !browsing.includes(file));
  const groups = [
    ...dealOut(browsing, browserGroups),
    ...dealOut(others, Math.ceil(others.length / filesPerGroup / processes) * processes),
  ];
  const grouped = groups.map(async (group, index) => {
    // The runner sorts files by name.
    const file = join(folderOfGroups, `group-${String(index + 1).padStart(3, '0')}.mjs`);
    const tests = group.map((path) => [path, pathToFileURL(resolve(path)).href]);
    await writeFile(
      file,
      `import { readFiles } from '${reader}';\n\nvoid readFiles(${JSON.stringify(tests)});\n`,
    );
    return file;
  });
  return [...(await Promise.all(grouped)), ...alone];
}

/** Neighbors are in different groups, because a folder's files tend to take equally long. */
function dealOut(all: readonly string[], groups: number): string[][] {
  const count = Math.min(all.length, groups);
  return Array.from({ length: count }, (_, group) =>
    all.filter((_file, index) => index % count === group),
  );
}

async function filesOf(name: string): Promise<string[]> {
  if (/\.m?[jt]s$/.test(name)) return [name];
  const exclude = (path: string) => path === 'node_modules';
  const inFolder = (await Array.fromAsync(glob(`${name}/**/*.test.ts`, { exclude }))).sort();
  if (inFolder.length > 0) return inFolder;
  throw new Error(`There are no tests in ${name}. Name a folder, or a file by its whole path.`);
}
