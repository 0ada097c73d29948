import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import runtime from '../bin/runtime.json' with { type: 'json' };
import type { BenchDatabase } from './bench-database.ts';
import { stopChild } from './child-program.ts';
import type { MeasuredPids } from './machine-use.ts';

/** A program under measurement, in separate processes. */
export interface BenchService extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Of the first process, the parent of the others. */
  readonly pid: number;
  readonly pids: MeasuredPids;
  stop(): Promise<void>;
}

export type SpawnedProgram = ReturnType<typeof spawnProgram>;

/** @returns `url` is the first one that it prints */
export function spawnProgram(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  stderr: 'inherit' | 'ignore' = 'inherit',
) {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', stderr],
    env: { PATH: process.env.PATH, ...environment },
  });
  const exit = once(child, 'exit');
  const url = new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk;
      const [match] = /http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+/.exec(text) ?? [];
      if (match !== undefined) resolve(match);
    });
    void exit.then(() => reject(new Error('the service exited before it was ready')));
  });
  return { child, url, exit };
}

/** Resolves once it has printed its URL. */
export async function startBenchProgram(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  databasePid = 0,
): Promise<BenchService> {
  const { child, url: ready } = spawnProgram(command, args, environment);
  const url = await ready;
  const stop = () => stopChild(child);
  const { pid = 0 } = child;
  const pids = { service: pid, database: databasePid };
  return { url, port: Number(new URL(url).port), pid, pids, stop, [Symbol.asyncDispose]: stop };
}

export interface BenchServiceOptions {
  /** Undefined: one for each core, as `serve` has it. */
  readonly processes?: number;
  /** Whether it also delivers. Default: false. */
  readonly worker?: boolean;
  readonly smtpUrl?: string;
  readonly nodeOptions?: readonly string[];
  /** Additional settings. */
  readonly environment?: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, '..');

/** SIGNALPOST_KEY, the same as `testKey`. */
export const benchMasterKey = Buffer.alloc(32, 7).toString('base64');

/** Starts the service with the routes of `bench-server.ts` on a migrated database. */
export function startBenchService(
  database: BenchDatabase,
  { processes, worker, smtpUrl, nodeOptions, environment }: BenchServiceOptions = {},
): Promise<BenchService> {
  return startNode(database, nodeOptions, ['bench/bench-server.ts'], {
    LOG_LEVEL: 'error',
    // The load comes from one address.
    MAX_CONNECTIONS_PER_PEER: '20000',
    ...(processes !== undefined && { BENCH_PROCESSES: String(processes) }),
    ...(worker === true && { BENCH_WORKER: '1' }),
    ...(smtpUrl !== undefined && { SMTP_URL: smtpUrl }),
    ...environment,
  });
}

export interface BenchServeOptions extends Pick<BenchServiceOptions, 'processes' | 'environment'> {
  readonly smtpUrl: string;
  readonly nodeOptions: readonly string[];
}

/** Starts `serve`. */
export function startServe(
  database: BenchDatabase,
  { smtpUrl, nodeOptions, processes, environment }: BenchServeOptions,
): Promise<BenchService> {
  const count = processes === undefined ? [] : ['--processes', String(processes)];
  return startNode(database, nodeOptions, ['src/main.ts', 'serve', ...count], {
    SMTP_URL: smtpUrl,
    LOG_LEVEL: 'warn',
    ...environment,
  });
}

function startNode(
  { url, pid }: BenchDatabase,
  nodeOptions: readonly string[] = [],
  [file = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<BenchService> {
  const node = [...runtime.options, ...nodeOptions, join(root, file), ...args];
  const common = {
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
    DATABASE_URL: url,
    SIGNALPOST_KEY: benchMasterKey,
    PORT: '0',
  };
  return startBenchProgram(process.execPath, node, { ...common, ...environment }, pid);
}
