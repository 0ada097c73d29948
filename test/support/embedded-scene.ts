import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import type { ConnectionSettings } from '../../src/embedded-database/connection-settings.ts';
import type { EmbeddedDatabase } from '../../src/embedded-database/embedded-database.ts';
import {
  type EmbeddedOptions,
  startEmbeddedDatabase,
} from '../../src/embedded-database/start-embedded-database.ts';

export const isRoot = process.getuid?.() === 0;

type Cleanup = () => Promise<unknown>;
const cleanups: Cleanup[] = [];

/** Does what is to be done at the end of the test file, the last thing first. */
function atEnd(cleanup: Cleanup): void {
  cleanups.unshift(cleanup);
}

after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

const silent = { info: () => undefined, warn: () => undefined };

/** A folder to make data folders in, which PostgreSQL's user can reach; removed at the end of the test file. */
export async function embeddedTestFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'embedded-test-'));
  await chmod(path, 0o711);
  atEnd(() => rm(path, { recursive: true, force: true, maxRetries: 10 }));
  return path;
}

let made: Promise<string> | undefined;

/** A data folder whose first start has been; each call gives one of its own. */
export async function initializedFolder(): Promise<string> {
  made ??= makeOne();
  const path = await embeddedTestFolder();
  // cp keeps the owner, who is PostgreSQL's user where the tests run as root.
  await promisify(execFile)('cp', ['-a', `${await made}/.`, path]);
  return path;
}

async function makeOne(): Promise<string> {
  const path = await embeddedTestFolder();
  await (await startEmbedded(path)).stop();
  return path;
}

/** Starts an embedded database that is stopped at the end of the test file at the latest. */
export async function startEmbedded(
  dataDir: string,
  options: Partial<EmbeddedOptions> = {},
): Promise<EmbeddedDatabase> {
  const database = await startEmbeddedDatabase({
    dataDir,
    log: silent,
    durable: false,
    ...options,
  });
  atEnd(() => database.stop());
  return database;
}

/** Runs one statement over a connection of its own. */
export async function queryEmbedded(
  settings: ConnectionSettings,
  statement: string,
): Promise<unknown> {
  const client = new pg.Client(settings);
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query({ text: statement, rowMode: 'array' });
    return rows[0]?.[0];
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Another process that owns an embedded database, as a service does. */
export interface DatabaseOwner {
  readonly process: ChildProcess;
  /** The first line that it prints: how to reach its database, or why there is none. */
  readonly firstLine: Promise<{
    settings?: ConnectionSettings;
    databasePid?: number;
    problem?: string;
  }>;
  /** Resolves when it has ended. */
  readonly exited: Promise<unknown>;
  /** Kills it as `kill -9` does and waits until it is gone. */
  kill(): Promise<void>;
}

/** Starts another process that owns the embedded database of a data folder. */
export function startDatabaseOwner(
  dataDir: string,
  script = join(import.meta.dirname, 'embedded-owner.ts'),
): DatabaseOwner {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, dataDir],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  atEnd(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  const lines = createInterface({ input: child.stdout });
  const firstLine = Promise.race([once(lines, 'line'), once(lines, 'close')]).then(([line]) => {
    assert.ok(line, 'the owner of the database ended without a word');
    return JSON.parse(line);
  });
  // Who kills it does not ask for its first line.
  firstLine.catch(() => undefined);
  return { process: child, firstLine, exited, kill };
}
