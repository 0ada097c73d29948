import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A program under measurement, in processes of its own. */
export interface BenchProgram extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Of the first process, the parent of the others. */
  readonly pid: number;
  stop(): Promise<void>;
}

export interface SpawnedProgram {
  readonly child: ChildProcess;
  /** The first URL that it prints. */
  readonly url: Promise<string>;
  readonly exit: Promise<unknown>;
}

export function spawnProgram(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  stderr: 'inherit' | 'ignore' = 'inherit',
): SpawnedProgram {
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
): Promise<BenchProgram> {
  const { child, exit, url: ready } = spawnProgram(command, args, environment);
  const url = await ready;
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exit;
  };
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid ?? 0,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
