import cluster, { type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { Log } from '../foundation/log.ts';
import { gatherMetrics } from './gather-metrics.ts';
import { choosePort } from './listen.ts';
import { aborted } from './stop-signal.ts';

/** What a process tells the first one. */
interface Hello {
  readonly answersAt: string;
}

const shortestPause = 500;
const longestPause = 30_000;

/** Says to the first process where this one answers. */
export function sayAnswersAt(url: string): void {
  process.send?.({ answersAt: url } satisfies Hello);
}

/**
 * Keeps so many processes of this command running, which share one port: one that dies is started again, after a pause
 * that grows while it dies at once. The first is started alone, so that what keeps it from starting is said once.
 * @throws OperatorError where the port or the address cannot be had
 * @returns the exit code: 0 after an orderly stop, the first process's own where it never answered
 */
export async function keepProcesses(
  count: number,
  config: Pick<Config, 'host' | 'port'>,
  stopping: AbortSignal,
  log: Log,
  announce: (url: string) => void,
): Promise<number> {
  const port = await choosePort(config);
  gatherMetrics();
  const fork = (): Worker => cluster.fork({ PORT: String(port) });
  const first = await startProcess(fork(), stopping);
  if (typeof first === 'number') return stopping.aborted ? 0 : first;
  announce(first.url);
  const slots = [keepOne(first.worker, fork, stopping, log)];
  for (let slot = 1; slot < count && !stopping.aborted; slot += 1)
    slots.push(keepOne(fork(), fork, stopping, log));
  await aborted(stopping);
  await Promise.all(slots);
  return 0;
}

/** One place for a process, filled again whenever it is empty. */
async function keepOne(
  given: Worker,
  fork: () => Worker,
  stopping: AbortSignal,
  log: Log,
): Promise<void> {
  let pause = shortestPause;
  for (let worker = given; ; worker = fork()) {
    const started = Date.now();
    const exit = exitOf(worker);
    const asking = askToStop(worker, stopping);
    const code = await exit;
    asking.end();
    if (stopping.aborted) return;
    pause = Date.now() - started > longestPause ? shortestPause : Math.min(pause * 2, longestPause);
    log.error({ pid: worker.process.pid, code, pause }, 'a process died and is started again');
    await delay(pause, undefined, { signal: stopping }).catch(() => undefined);
    if (stopping.aborted) return;
  }
}

/** Asks again and again: a process that is just starting does not listen yet. */
function askToStop(worker: Worker, stopping: AbortSignal): { end(): void } {
  let timer: NodeJS.Timeout | undefined;
  const ask = (): void => {
    worker.send('stop', () => undefined);
    timer ??= setInterval(ask, 500);
  };
  if (stopping.aborted) ask();
  else stopping.addEventListener('abort', ask, { once: true });
  return {
    end() {
      stopping.removeEventListener('abort', ask);
      clearInterval(timer);
    },
  };
}

async function startProcess(
  worker: Worker,
  stopping: AbortSignal,
): Promise<{ worker: Worker; url: string } | number> {
  const asking = askToStop(worker, stopping);
  const url = new Promise<string>((resolve) => {
    worker.on('message', (message: Partial<Hello>) => {
      if (message.answersAt !== undefined) resolve(message.answersAt);
    });
  });
  const found = await Promise.race([url, exitOf(worker)]);
  asking.end();
  return typeof found === 'string' ? { worker, url: found } : found;
}

function exitOf(worker: Worker): Promise<number> {
  return new Promise((resolve) => worker.once('exit', (code) => resolve(code ?? 1)));
}
