import { spawn } from 'node:child_process';

/** A program under measurement, in processes of its own. */
export interface BenchProgram {
  /** Where it answers, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Of the first process, which keeps the others. */
  readonly pid: number;
  /** Milliseconds from its start until it said where it answers. */
  readonly startedIn: number;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a program; resolves once it has printed where it answers. */
export async function startBenchProgram(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<BenchProgram> {
  const started = performance.now();
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, ...environment },
  });
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk;
      const match = /(http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+)/.exec(text);
      if (match?.[1] !== undefined) resolve(match[1]);
    });
    void exit.then(() => reject(new Error('the service ended before it answered')));
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exit;
  };
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid ?? 0,
    startedIn: performance.now() - started,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
