import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { trySessionLock } from '../../src/base/database/advisory-locks.ts';
import { requireMatchingKey } from '../../src/base/secrets/installation-store.ts';
import { runInProcess } from '../../test/support/run-command.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { metricsHeaders, serviceTokens } from '../../test/support/service-tokens.ts';
import { openGate } from '../../test/support/tcp-gate.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const dataDir = join(temporaryFolder(), 'data');
const { url, database } = await createTestDatabase();
// From here on, the database belongs to the key.
await requireMatchingKey(database, testKey);
const key = Buffer.alloc(32, 7).toString('base64');
const environment = {
  DATA_DIR: dataDir,
  DATABASE_URL: url,
  PORT: '0',
  LOG_LEVEL: 'warn',
  SIGNALPOST_KEY: key,
};

/** Processes start slowly on a busy machine. */
const timeoutMs = 60_000;

async function childrenOf(pid = 0): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').filter(Boolean).map(Number);
}

async function isServing(pid = 0): Promise<boolean> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8');
  return words.includes('src/main.ts\0serve');
}

test('nodes with separate roles share one database', async () => {
  const nodes = ['http', 'management, smtp', 'worker'].map((role) =>
    runSignalpost(['serve', '--role', role, '--processes', '1'], environment),
  );
  for (const node of nodes) {
    const [, address] = await node.printed(/running at (http:\/\/\S+)/);
    assert.equal((await fetch(`${address}/readyz`)).status, 200);
  }
  for (const node of nodes) node.child.kill('SIGTERM');
  assert.deepEqual(await Promise.all(nodes.map((node) => node.exit)), [0, 0, 0]);
});

test('a first start on your own database needs neither a key nor a data folder', async () => {
  const own = await createTestDatabase();
  const folder = join(temporaryFolder(), 'not-there', 'data');
  const service = runSignalpost(['start'], {
    DATABASE_URL: own.url,
    DATA_DIR: folder,
    PORT: '0',
    DEMO: '1',
    LOG_LEVEL: 'warn',
  });
  await service.printed(/demo\.env/);
  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0);
  assert.match(await readFile(join(folder, 'demo.env'), 'utf8'), /^export DEMO_OWNER_PASSWORD=/m);
});

const { DATABASE_URL: _, ...withoutDatabase } = environment;

for (const [name, role, settings, message] of [
  [
    'a node with another key',
    'http',
    { ...environment, SIGNALPOST_KEY: Buffer.alloc(32, 8).toString('base64') },
    /^signalpost: This database was set up with another key/,
  ],
  [
    'an unknown role',
    'http,cook',
    environment,
    /--role must be one or more of http, management, smtp, worker, outbox, separated by a comma, not "cook"/,
  ],
  ['serve without DATABASE_URL', 'http', withoutDatabase, /serve requires DATABASE_URL/],
] as const)
  test(`${name} is refused with a message`, async () => {
    const { code, err } = await runInProcess(
      ['serve', '--role', role, '--processes', '1'],
      settings,
    );
    assert.equal(code, 1);
    assert.match(err, message);
  });

test('SIGTERM while the first of several processes starts ends the node with 0', async () => {
  const node = runSignalpost(['serve', '--processes', '2'], environment);
  const [first = 0] = await waitFor('the first process', async () => {
    // The shell script runs other programs before it becomes the node.
    if (!(await isServing(node.child.pid))) return false;
    const pids = await childrenOf(node.child.pid);
    return pids.length > 0 && pids;
  });
  node.child.kill('SIGTERM');
  // A node that misses the signal would run forever.
  const ending = AbortSignal.timeout(timeoutMs);
  ending.onabort = () => node.child.kill('SIGKILL');
  assert.equal(await node.exit, 0);
  assert.throws(() => process.kill(first, 0), 'its process has ended too');
});

test("SIGTERM ends a node that is waiting for another node's migration", async () => {
  const own = await createTestDatabase();
  const other = await own.database.pool.connect();
  assert.ok(await trySessionLock(other, 'migrations'));
  const node = runSignalpost(['serve', '--processes', '1'], {
    ...environment,
    DATABASE_URL: own.url,
  });
  await waitFor('the node to wait', async () => {
    const { rows } = await other.query(
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
       and query like 'select pg_try_advisory_lock%'`,
    );
    return rows.length > 0;
  });
  node.child.kill('SIGTERM');
  const ending = AbortSignal.timeout(timeoutMs);
  ending.onabort = () => node.child.kill('SIGKILL');
  const exit = await node.exit;
  await other.query('select pg_advisory_unlock_all()');
  other.release();
  assert.equal(exit, 0);
});

test('a node whose database is down stops with 0', async () => {
  const own = await createTestDatabase();
  const gate = await openGate(own.url);
  const node = runSignalpost(['serve', '--processes', '1'], {
    ...environment,
    DATABASE_URL: gate.url,
  });
  const [, address] = await node.printed(/running at (http:\/\/\S+)/);
  gate.close();
  await waitFor(
    'the node to notice',
    async () => (await fetch(`${address}/readyz`)).status === 503,
  );
  node.child.kill('SIGTERM');
  assert.equal(await node.exit, 0, node.output.stderr);
});

test('a startup problem of a node with several processes is reported once', async () => {
  const node = runSignalpost(['serve', '--processes', '2'], {
    ...environment,
    SIGNALPOST_KEY: Buffer.alloc(32, 8).toString('base64'),
  });
  assert.equal(await node.exit, 1);
  assert.equal(node.output.stderr.match(/^signalpost:/gm)?.length, 1);
});

const node = runSignalpost(['serve', '--processes', '2'], { ...environment, ...serviceTokens });

test('/metrics of a node with several processes shows all of them, whichever responds', async () => {
  const [, address] = await node.printed(/running at (http:\/\/\S+)/);
  const read = async (): Promise<Map<string, number>> => {
    const response = await fetch(`${address}/metrics`, {
      headers: { connection: 'close', ...metricsHeaders },
    });
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    const lines = (await response.text()).matchAll(/^(signalpost_\w+)(?:\{.*\})? (\S+)$/gm);
    return new Map([...lines].map(([, name = '', value]) => [name, Number(value)]));
  };
  await waitFor(
    'both processes',
    async () => (await read()).get('signalpost_processes') === 2,
    timeoutMs,
  );
  const responses = await Promise.all(Array.from({ length: 8 }, read));
  for (const response of responses) {
    assert.equal(response.get('signalpost_processes'), 2);
    assert.equal(response.get('signalpost_queue_entries'), 0);
  }
});

test('a port in use by another program is reported once, although the processes of a node share theirs', async () => {
  const [, address = ''] = await node.printed(/running at (http:\/\/\S+)/);
  const { port } = new URL(address);
  const second = runSignalpost(['serve', '--processes', '2'], { ...environment, PORT: port });
  assert.equal(await second.exit, 1);
  assert.match(
    second.output.stderr,
    new RegExp(`^signalpost: Port ${port} on .* is already in use`),
  );
});

test('a node runs a process per core, restarts one that dies, and stops all of them', async () => {
  const [, address] = await node.printed(/running at (http:\/\/\S+)/);
  const before = await waitFor(
    'two processes',
    async () => {
      const pids = await childrenOf(node.child.pid);
      return pids.length === 2 && pids;
    },
    timeoutMs,
  );
  const [victim = 0] = before;
  process.kill(victim, 'SIGKILL');
  await waitFor(
    'its replacement',
    async () => {
      const pids = await childrenOf(node.child.pid);
      return pids.length === 2 && !pids.includes(victim);
    },
    timeoutMs,
  );
  await waitFor(
    'an answer',
    async () => {
      const response = await fetch(`${address}/readyz`).catch(() => undefined);
      return response?.status === 200;
    },
    timeoutMs,
  );
  node.child.kill('SIGTERM');
  assert.equal(await node.exit, 0);
  assert.equal(node.output.stdout.match(/running at/g)?.length, 1);
});
