import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { blockWith } from '../../test-system/support/deployment.ts';
import { freePort } from '../../test-system/support/free-port.ts';

/** The units of the deployment page with Debian's systemd programs, which need no running systemd. */
const deploy = 'docs/operate/deploy.md';
const root = join(import.meta.dirname, '../..');
const folder = temporaryFolder();
const { url } = await createTestDatabase();
const environment = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  DATABASE_URL: url,
  DATA_DIR: join(folder, 'data'),
  DEMO: '0',
  LOG_LEVEL: 'error',
  DRAIN_SECONDS: '1',
};

/** Writes a unit as the page has it, for this checkout. @returns its path */
function writeUnit(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text.replaceAll('/opt/signalpost', root));
  return path;
}

const service = writeUnit('signalpost.service', blockWith(deploy, '[Service]'));
const socket = writeUnit('signalpost.socket', blockWith(deploy, '[Socket]'));

test('systemd accepts the units of the deployment page', () => {
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', service, socket], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  // Unknown settings are only warnings; other units of the machine may have some too.
  assert.doesNotMatch(stderr, /signalpost/);
});

test('systemd rates what the unit exposes as low', () => {
  // 0 is a sandbox without anything, 100 a service without limits.
  const { status, stdout, stderr } = spawnSync(
    'systemd-analyze',
    ['security', '--offline=yes', '--no-pager', '--threshold=20', service],
    { encoding: 'utf8' },
  );
  assert.equal(status, 0, stdout + stderr);
});

/** A process of a service manager's child, which is ended with the file. */
function keep(child: ChildProcess): ChildProcess {
  after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  return child;
}

test('systemd tells the unit’s command which socket to listen on', async () => {
  const port = await freePort();
  keep(
    spawn(
      'systemd-socket-activate',
      [`--listen=127.0.0.1:${port}`, ...setEnv(), join(root, 'bin/signalpost'), 'serve'],
      { env: { PATH: process.env.PATH }, stdio: ['ignore', 'ignore', 'pipe'] },
    ),
  );
  // The first connection starts the service, and waits for it.
  const response = await waitFor('an answer on the socket', () =>
    fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined),
  );
  assert.equal(response.status, 200);
});

function setEnv(): string[] {
  return Object.entries(environment).map(([name, value]) => `--setenv=${name}=${value}`);
}

/** Prints what arrives on a notification socket, a line each. */
const reader = `
import os, socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
print('listening', flush=True)
while True:
    for line in receiver.recv(4096).decode().splitlines():
        print(line, flush=True)
`;

test('the service says when it is ready and when it stops', async () => {
  mkdirSync(join(folder, 'notify'));
  const path = join(folder, 'notify', 'socket');
  const receiver = keep(
    spawn('python3', ['-c', reader, path], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  assert.ok(receiver.stdout);
  const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value;
  assert.equal(await next(), 'listening');
  const port = await freePort();
  const node = keep(
    spawn(join(root, 'bin/signalpost'), ['serve', '--processes', '2'], {
      env: { ...environment, NOTIFY_SOCKET: path, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  assert.equal(await next(), 'READY=1');
  assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
  node.kill('SIGTERM');
  assert.equal(await next(), 'STOPPING=1');
  assert.deepEqual(await once(node, 'exit'), [0, null]);
});

/** Starts the command again whenever it ends, and keeps the socket, descriptor 3, as systemd does. Prints the pids. */
const manager = `
while true; do
  sh -c 'LISTEN_PID=$$; export LISTEN_PID; exec "$0" serve --processes 2' "$1" >/dev/null &
  echo $!
  wait $! || exit 1
done
`;

test('a restart on the same socket refuses no connection', async () => {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const { fd } = (listener as unknown as { readonly _handle: { readonly fd: number } })._handle;
  const shell = spawn('sh', ['-eu', '-c', manager, 'sh', join(root, 'bin/signalpost')], {
    env: { ...environment, LISTEN_FDS: '1' },
    stdio: ['ignore', 'pipe', 'inherit', fd],
  });
  // The shell has it now; this process must not accept anything.
  listener.close();
  assert.ok(shell.stdout);
  const pids = createInterface(shell.stdout)[Symbol.asyncIterator]();
  const first = Number((await pids.next()).value);
  const responses = new Map<string, number>();
  let going = true;
  after(() => {
    going = false;
    shell.kill('SIGKILL');
  });
  const ask = async (): Promise<void> => {
    while (going) {
      const result = await fetch(`http://127.0.0.1:${port}/healthz`, {
        headers: { connection: 'close' },
      }).then(
        ({ status }) => String(status),
        (error: Error) => String(error.cause ?? error),
      );
      responses.set(result, (responses.get(result) ?? 0) + 1);
    }
  };
  const askers = Array.from({ length: 8 }, ask);
  await waitFor('answers of the first service', () => (responses.get('200') ?? 0) > 100);
  process.kill(first, 'SIGTERM');
  const second = Number((await pids.next()).value);
  const before = responses.get('200') ?? 0;
  await waitFor('answers of the second service', () => (responses.get('200') ?? 0) > before + 100);
  going = false;
  await Promise.all(askers);
  // The shell ends first, so that it starts no third service.
  shell.kill('SIGKILL');
  process.kill(second, 'SIGTERM');
  await waitFor('the end of the second service', () => {
    try {
      return !process.kill(second, 0);
    } catch {
      return true;
    }
  });
  assert.deepEqual([...responses.keys()], ['200'], JSON.stringify([...responses]));
});
