import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { createTestDatabase } from '../../test/support/test-database.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const folder = await mkdtemp(join(tmpdir(), 'package-'));
after(() => rm(folder, { recursive: true }));

/** Starts the command line of the package; resolves with the address that it prints. */
async function start(packageFolder: string, databaseUrl: string): Promise<string> {
  const child = spawn(join(packageFolder, 'bin/signalpost'), ['start'], {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, PORT: '0', DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  after(() => child.kill());
  for await (const line of createInterface({ input: child.stdout })) {
    const [, address] = /^\s+Service\s+(http\S+)/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('the service did not start');
}

test('the published package carries the console built, serves it, and carries no tests', async () => {
  // Without its scripts: `prepare` would build the console anew under the other tests.
  const { stdout } = await run(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', folder],
    { cwd: root, maxBuffer: 50_000_000 },
  );
  const [{ filename, files }] = JSON.parse(stdout) as [
    { filename: string; files: { path: string }[] },
  ];
  const paths = files.map(({ path }) => path);
  assert.ok(paths.includes('console/dist/index.html'));
  assert.deepEqual(
    paths.filter((path) => /^(?:test|test-system|test-long|bench|console\/src|data)\//.test(path)),
    [],
  );
  await run('tar', ['-xzf', join(folder, filename), '-C', folder]);
  await symlink(join(root, 'node_modules'), join(folder, 'package/node_modules'));
  const { url } = await createTestDatabase();
  const address = await start(join(folder, 'package'), url);
  const page = await (await fetch(`${address}/console`)).text();
  const [, script = ''] = /<script type="module"[^>]* src="([^"]+)"/.exec(page) ?? [];
  const answer = await fetch(`${address}${script}`);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /javascript/);
});
