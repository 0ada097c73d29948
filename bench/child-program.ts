import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { json, text } from 'node:stream/consumers';

const quiet = '--disable-warning=ExperimentalWarning';

/** Runs a file of the benchmark as a process that exchanges messages with this one. */
export function forkFile(file: string, args: readonly string[] = []): ChildProcess {
  return fork(file, args, { execArgv: [quiet] });
}

/** Resolves once it has exited. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

/** Runs a file that calls `answerOrder`, as a separate process. */
export async function runOrder<Report>(
  file: string,
  order: object,
  nodeOptions: readonly string[] = [],
): Promise<Report> {
  const child = spawn(process.execPath, [quiet, ...nodeOptions, file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(order));
  const [report, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`${file} exited with ${code}`);
  return JSON.parse(report) as Report;
}

/** Reads the order from standard input and writes the report to standard output. */
export async function answerOrder<Order>(work: (order: Order) => Promise<object>): Promise<void> {
  const report = await work((await json(process.stdin)) as Order);
  process.stdout.write(JSON.stringify(report), () => process.exit());
}
