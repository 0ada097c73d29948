import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { after } from 'node:test';

const root = join(import.meta.dirname, '../..');
const program = join(root, 'bin/signalpost');

/** A running command-line process. */
export interface Running {
  readonly child: ChildProcess;
  /** Everything printed so far. */
  readonly output: { stdout: string; stderr: string };
  /** Resolves with the exit code or the signal's name. */
  readonly exit: Promise<number | string>;
  /** Resolves with the match once standard output contains the pattern; rejects if the process exits first, or after two minutes. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Runs `bin/signalpost` with a given environment; it is stopped at the end of the test file at the latest. */
export function runSignalpost(
  args: readonly string[],
  environment: Record<string, string>,
): Running {
  return spawnRunning(program, args, environment);
}

/** The same with a heap limit; the limit in `bin/signalpost` would override NODE_OPTIONS. */
export function runWithHeap(
  mebibytes: number,
  args: readonly string[],
  environment: Record<string, string>,
): Running {
  const options = ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${mebibytes}`];
  const main = join(root, 'src/main.ts');
  return spawnRunning(process.execPath, [...options, main, ...args], environment);
}

/** Runs `npm start` in a separate process group, like a terminal. */
export function runNpmStart(environment: Record<string, string>): Running {
  return spawnRunning('npm', ['start'], environment, { cwd: root, detached: true });
}

/** Runs another program in the same way. */
export function spawnRunning(
  name: string,
  args: readonly string[],
  environment: Record<string, string>,
  options: { readonly cwd?: string; readonly detached?: boolean } = {},
): Running {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE, ...environment };
  const child = spawn(name, args, { ...options, env });
  const output = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk;
    for (const watch of watchers) watch();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk;
  });
  const exit = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  after(async () => {
    if (child.exitCode === null) child.kill('SIGTERM');
    await exit;
  });
  return {
    child,
    output,
    exit,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const missing = setTimeout(
          () => reject(new Error(`didn’t print ${pattern}: ${output.stdout}${output.stderr}`)),
          120_000,
        ).unref();
        const watch = (): void => {
          const match = pattern.exec(output.stdout);
          if (match === null) return;
          clearTimeout(missing);
          watchers.delete(watch);
          resolve(match);
        };
        watchers.add(watch);
        watch();
        void exit.then((code) => reject(new Error(`exited with ${code}: ${output.stderr}`)));
      }),
  };
}
