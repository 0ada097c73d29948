import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** A server under measurement, in a process of its own. */
export interface BenchService {
  readonly port: number;
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

/** The key of the benchmark's installation, in the form of SIGNALPOST_KEY. */
export const benchKey = Buffer.alloc(32, 7).toString('base64');

/** Starts the service on a database that is set up already; resolves once it listens. */
export async function startBenchService(
  databaseUrl: string,
  nodeOptions: readonly string[] = [],
): Promise<BenchService> {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      ...nodeOptions,
      join(import.meta.dirname, 'bench-server.ts'),
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: databaseUrl,
        SIGNALPOST_KEY: benchKey,
        PORT: '0',
        LOG_LEVEL: 'error',
      },
    },
  );
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk;
      const match = /listening on (\d+)/.exec(text);
      if (match !== null) resolve(Number(match[1]));
    });
    void exit.then(() => reject(new Error('the service ended before it listened')));
  });
  return {
    port,
    child,
    async stop() {
      child.kill('SIGTERM');
      await exit;
    },
  };
}
