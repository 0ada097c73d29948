import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import runtime from '../../bin/runtime.json' with { type: 'json' };
import { type Running, spawnRunning } from '../../test/support/run-signalpost.ts';
import { serviceTokens } from '../../test/support/service-tokens.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';

const root = join(import.meta.dirname, '../..');
const folder = temporaryFolder();

/** Says how it was started, ends as its first argument says, or waits for a signal. */
const program = `
  const [how, ...words] = process.argv.slice(2);
  const { execArgv, execPath } = process;
  console.log(JSON.stringify({ words, execArgv, execPath, pid: process.pid }));
  if (how === 'exit') process.exit(7);
  if (how === 'abort') process.kill(process.pid, 'SIGKILL');
  if (how === 'wait') {
    setInterval(() => {}, 1000);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'])
      process.on(signal, () => { console.log(signal); process.exit(3); });
    console.log('waits');
  }
`;

let count = 0;

/** A checkout with the launcher and that program. @param node a script in the place of the Node that npm installs */
function makeCheckout(name: string, options: { node?: string; oldestNode?: string } = {}): string {
  const checkout = join(folder, String(++count), name);
  cpSync(join(root, 'bin'), join(checkout, 'bin'), { recursive: true });
  mkdirSync(join(checkout, 'src'));
  writeFileSync(join(checkout, 'package.json'), '{"type":"module"}');
  writeFileSync(join(checkout, 'src/main.ts'), program);
  const { node, oldestNode = runtime.oldestNode } = options;
  writeFileSync(join(checkout, 'bin/runtime.json'), JSON.stringify({ ...runtime, oldestNode }));
  if (node !== undefined) {
    const installed = join(
      checkout,
      'node_modules',
      `node-${process.platform}-${process.arch}`,
      'bin',
    );
    mkdirSync(installed, { recursive: true });
    writeFileSync(join(installed, 'node'), node);
    chmodSync(join(installed, 'node'), 0o755);
  }
  return checkout;
}

const plain = makeCheckout('plain');
/** Node before 22.15, and on Windows, can't replace its process. */
const withoutExec = 'data:text/javascript,delete process.execve';
const ways: Readonly<Record<string, readonly string[]>> = {
  'as its own process': [],
  'as a child': ['--import', withoutExec],
};

function launch(
  checkout: string,
  args: readonly string[],
  { options = [], ...environment }: { options?: readonly string[]; PATH?: string } = {},
): Running {
  return spawnRunning(
    process.execPath,
    [...options, join(checkout, 'bin/signalpost'), ...args],
    environment,
  );
}

async function started(running: Running) {
  const [line = ''] = await running.printed(/^\{.*\}$/m);
  return JSON.parse(line) as {
    readonly words: readonly string[];
    readonly execArgv: readonly string[];
    readonly execPath: string;
    readonly pid: number;
  };
}

for (const [way, options] of Object.entries(ways)) {
  test(`${way}, a folder with spaces, quotes and other letters runs with the service's options`, async () => {
    const checkout = makeCheckout('a folder with "quotes", % and Ünïcode 信号 ');
    const words = ['two words', '', '"', 'back\\slash\\', '$HOME', '%PATH%', 'é信'];
    const running = launch(checkout, ['show', ...words], { options });
    const said = await started(running);
    assert.deepEqual(said.words, words);
    assert.deepEqual(said.execArgv, runtime.options);
    assert.equal(said.execPath, process.execPath);
    assert.equal(said.pid === running.child.pid, options.length === 0);
    assert.equal(await running.exit, 0);
    assert.equal(running.output.stderr, '');
  });

  test(`${way}, the program's exit code, and the signal that ended it, are those of the launcher`, async () => {
    assert.equal(await launch(plain, ['exit'], { options }).exit, 7);
    assert.equal(await launch(plain, ['abort'], { options }).exit, 'SIGKILL');
  });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const)
    test(`${way}, the program gets ${signal}`, async () => {
      const running = launch(plain, ['wait'], { options });
      await running.printed(/waits/);
      running.child.kill(signal);
      assert.equal(await running.exit, 3);
      assert.match(running.output.stdout, new RegExp(`^${signal}$`, 'm'));
    });
}

test('a Node that is too old, and one that doesn’t run here, are passed over', async () => {
  for (const node of ['#!/bin/sh\necho v26.9.0\n', '#!/nonexistent/loader\n']) {
    const running = launch(makeCheckout('other', { node }), ['show']);
    assert.equal((await started(running)).execPath, process.execPath);
    assert.equal(await running.exit, 0);
  }
});

test('the Node that npm installed comes first', async () => {
  const node = `#!/bin/sh\n[ "$1" = --version ] && echo v${runtime.oldestNode}.0 || echo "installed: $*"\n`;
  const checkout = makeCheckout('installed', { node });
  const running = launch(checkout, ['show']);
  const [, said] = await running.printed(/installed: (.*)$/m);
  assert.equal(said, [...runtime.options, join(checkout, 'src/main.ts'), 'show'].join(' '));
  assert.equal(await running.exit, 0);
});

test('without a Node that is new enough, one sentence says which is needed, what was found, and what to do', async () => {
  const old = makeCheckout('old', { node: '#!/bin/sh\necho v24.0.0\n', oldestNode: '999.1' });
  const running = launch(old, ['show'], { PATH: '' });
  assert.equal(await running.exit, 1);
  const installed = join(old, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  assert.equal(
    running.output.stderr,
    `signalpost: Node 999.1 or later is required, but ${installed} is 24.0.0, ${process.execPath} is ${process.versions.node}; run 'npm ci' in ${old} to install it.\n`,
  );
});

/** Runs one process of the real service below the launcher. */
async function serveAsChild() {
  const { database, url } = await createTestDatabase();
  const service = spawnRunning(
    process.execPath,
    ['--import', withoutExec, join(root, 'bin/signalpost'), 'serve', '--processes', '1'],
    {
      ...serviceTokens,
      DATABASE_URL: url,
      DATA_DIR: join(folder, 'data'),
      DELIVERY: 'inbox',
      LOG_LEVEL: 'error',
      PORT: '0',
      SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
    },
  );
  const [, address] = await service.printed(/running at (http:\S+)/);
  assert.equal((await fetch(`${address}/readyz`)).status, 200);
  const processes = async (): Promise<number> => {
    const { rows } = await database.pool.query('select pid from service_process');
    return rows.length;
  };
  assert.equal(await processes(), 1);
  return { service, processes };
}

test('a launcher that is told to stop ends with the service, once that has stopped', async () => {
  const { service, processes } = await serveAsChild();
  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0);
  assert.equal(await processes(), 0);
  assert.equal(service.output.stderr, '');
});

test('the service of a killed launcher stops as with SIGTERM', async () => {
  const { service, processes } = await serveAsChild();
  service.child.kill('SIGKILL');
  // Its output is closed once the service has ended, too.
  assert.equal(await service.exit, 'SIGKILL');
  // A process that was killed would still be listed.
  assert.equal(await processes(), 0);
  assert.equal(service.output.stderr, '');
});
