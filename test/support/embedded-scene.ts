import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { withClient } from '../../src/host/embedded-database/database-client.ts';
import type { ConnectionSettings } from '../../src/host/embedded-database/database-password.ts';
import type { EmbeddedDatabase } from '../../src/host/embedded-database/embedded-database.ts';
import {
  type EmbeddedOptions,
  startEmbeddedDatabase,
} from '../../src/host/embedded-database/start-embedded-database.ts';
import { copyDataFolder } from './copy-data-folder.ts';

export const isRoot = process.getuid?.() === 0;

type Cleanup = () => Promise<unknown>;
const cleanups: Cleanup[] = [];
/** Outside all tests, where hooks belong to the file: those that share a process import this only once. */
const inFile = AsyncLocalStorage.snapshot();

/** Registers a cleanup for the end of the test file; the last one runs first. */
function atEnd(cleanup: Cleanup): void {
  if (cleanups.length === 0) inFile(after, runCleanups);
  cleanups.unshift(cleanup);
}

async function runCleanups(): Promise<void> {
  for (const cleanup of cleanups.splice(0)) await cleanup();
}

const silent = { info: () => undefined, warn: () => undefined };

/** A parent for data folders that PostgreSQL's user can reach; removed at the end of the test file. */
export async function embeddedTestFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'embedded-test-'));
  await chmod(path, 0o711);
  atEnd(() => rm(path, { recursive: true, force: true, maxRetries: 10 }));
  return path;
}

/** A separate copy of a data folder that was started once. */
export async function initializedFolder(): Promise<string> {
  return copyDataFolder('initialized', await embeddedTestFolder());
}

/** Starts an embedded database; it stops at the end of the test file at the latest. */
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

/** Runs one statement on a separate connection. */
export async function queryEmbedded(
  settings: ConnectionSettings,
  statement: string,
): Promise<unknown> {
  return withClient(settings, async (client) => {
    const { rows } = await client.query({ text: statement, rowMode: 'array' });
    return rows[0]?.[0];
  });
}

/** A separate process that owns an embedded database, like a service. */
export interface DatabaseOwner {
  readonly process: ChildProcess;
  /** The first line it prints: the database settings, or why it failed to start. */
  readonly firstLine: Promise<{
    settings?: ConnectionSettings;
    databasePid?: number;
    problem?: string;
  }>;
  /** Resolves when it has exited. */
  readonly exited: Promise<unknown>;
  /** Kills it like `kill -9` and waits until it has exited. */
  kill(): Promise<void>;
}

/** Starts a separate process that owns the embedded database of a data folder. */
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
    assert.ok(line, 'the owner of the database exited without output');
    return JSON.parse(line);
  });
  // A test that kills it may never read its first line.
  firstLine.catch(() => undefined);
  return { process: child, firstLine, exited, kill };
}
