import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startEmbeddedDatabase } from '../src/host/embedded-database/start-embedded-database.ts';

const silent = { info: () => undefined, warn: () => undefined };

/** Data folders that tests copy: a first start takes longer than most of what tests do with the service. */
interface TestDataFolders {
  /** Contains `initialized`, in which a database was started, and `started`, in which the service was, with its demo. */
  readonly path: string;
  remove(): Promise<void>;
}

export async function createTestDataFolders(): Promise<TestDataFolders> {
  const path = await mkdtemp(join(tmpdir(), 'signalpost-test-folders-'));
  await chmod(path, 0o711);
  const initialized = join(path, 'initialized');
  const started = join(path, 'started');
  await mkdir(initialized, { mode: 0o711 });
  const embedded = await startEmbeddedDatabase({
    dataDir: initialized,
    log: silent,
    durable: false,
  });
  await embedded.stop();
  // cp keeps the owner, which is PostgreSQL's user if the tests run as root.
  execFileSync('cp', ['-a', initialized, started]);
  await startOnce(started);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Starts the service, and stops it as soon as it has set up its demo. */
async function startOnce(dataDir: string): Promise<void> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const settings = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' };
  const service = spawn(join(import.meta.dirname, '../bin/signalpost'), ['start'], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(service, 'exit');
  const lines = createInterface({ input: service.stdout });
  for await (const line of lines) if (/Service\s+http/.test(line)) break;
  service.kill('SIGTERM');
  const [code] = await ended;
  if (code !== 0) throw new Error(`a service for the data folders of tests ended with ${code}`);
}
