import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { runtimeEnvironment, runtimeOptions } from './runtime-options.ts';

/** A server under measurement, in processes of its own. */
export interface BenchService {
  readonly port: number;
  /** The first process, which keeps the others. */
  readonly child: ChildProcess;
  /** Milliseconds from its start until it answered. */
  readonly startedIn: number;
  stop(): Promise<void>;
}

export interface BenchServiceOptions {
  /** For the runtime, such as `--cpu-prof`. */
  readonly nodeOptions?: readonly string[];
  /** Undefined: one for each core, as `serve` has it. */
  readonly processes?: number;
  readonly roles?: string;
  readonly smtpUrl?: string;
}

/** The key of the benchmark's installation, in the form of SIGNALPOST_KEY. */
export const benchMasterKey = Buffer.alloc(32, 7).toString('base64');

/** Starts the service on a database that is set up already; resolves once it listens. */
export async function startBenchService(
  databaseUrl: string,
  options: BenchServiceOptions = {},
): Promise<BenchService> {
  const { nodeOptions = [], processes, roles, smtpUrl } = options;
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [...runtimeOptions, ...nodeOptions, join(import.meta.dirname, 'bench-server.ts')],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env.PATH,
        ...runtimeEnvironment,
        DATABASE_URL: databaseUrl,
        SIGNALPOST_KEY: benchMasterKey,
        PORT: '0',
        LOG_LEVEL: 'error',
        // The load comes from one address.
        MAX_CONNECTIONS_PER_PEER: '20000',
        ...(processes !== undefined && { BENCH_PROCESSES: String(processes) }),
        ...(roles !== undefined && { BENCH_ROLES: roles }),
        ...(smtpUrl !== undefined && { SMTP_URL: smtpUrl }),
      },
    },
  );
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk;
      const match = /answers at http:\S+:(\d+)/.exec(text);
      if (match !== null) resolve(Number(match[1]));
    });
    void exit.then(() => reject(new Error('the service ended before it listened')));
  });
  return {
    port,
    child,
    startedIn: performance.now() - started,
    async stop() {
      child.kill('SIGTERM');
      await exit;
    },
  };
}
