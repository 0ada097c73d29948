import cluster, { type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../base/values/log.ts';
import type { Config } from '../config/config.ts';
import { gatherMetrics } from './gather-metrics.ts';
import { choosePort } from './listen.ts';
import { passSocket } from './service-manager.ts';
import { aborted } from './stop-service.ts';

/** Sent by a process to the first one. */
interface ReadyMessage {
  readonly answersAt: string;
}

/** What the processes share. */
interface SharedWork extends Pick<Config, 'host' | 'port'> {
  readonly count: number;
  /** A descriptor of `inheritedSocket`; undefined: they listen on HOST and PORT. */
  readonly socket: number | undefined;
}

const minRestartDelayMs = 500;
const maxRestartDelayMs = 30_000;

/** Reports the URL of this process to the first one. */
export function reportUrl(url: string): void {
  process.send?.({ answersAt: url } satisfies ReadyMessage);
}

/**
 * Runs this command in several processes that share one port, and restarts those that die, with backoff. The first one
 * starts alone, so that a startup problem is reported once.
 * @throws OperatorError if the port or the address is not available
 * @returns the exit code: 0 after a graceful stop, the first process's own if it never became ready
 */
export async function superviseProcesses(
  work: SharedWork,
  stopping: AbortSignal,
  log: Log,
  announce: (url: string) => void,
): Promise<number> {
  const { socket } = work;
  const variables =
    socket === undefined ? { PORT: String(await choosePort(work)) } : passSocket(socket);
  // The processes accept from the socket themselves: nothing goes through the first one.
  if (socket !== undefined) cluster.schedulingPolicy = cluster.SCHED_NONE;
  gatherMetrics();
  const fork = (): Worker => cluster.fork(variables);
  const first = await startProcess(fork(), stopping);
  if (typeof first === 'number') return stopping.aborted ? 0 : first;
  announce(first.url);
  const slots = [superviseProcess(first.worker, fork, stopping, log)];
  for (let slot = 1; slot < work.count && !stopping.aborted; slot += 1)
    slots.push(superviseProcess(fork(), fork, stopping, log));
  await aborted(stopping);
  await Promise.all(slots);
  return 0;
}

/** Runs a process in this slot and restarts it whenever it exits. */
async function superviseProcess(
  initial: Worker,
  fork: () => Worker,
  stopping: AbortSignal,
  log: Log,
): Promise<void> {
  let restartDelayMs = minRestartDelayMs;
  for (let worker = initial; ; worker = fork()) {
    const started = Date.now();
    const exit = exitOf(worker);
    const stopRequest = requestStop(worker, stopping);
    const code = await exit;
    stopRequest.end();
    if (stopping.aborted) return;
    restartDelayMs =
      Date.now() - started > maxRestartDelayMs
        ? minRestartDelayMs
        : Math.min(restartDelayMs * 2, maxRestartDelayMs);
    log.error(
      { pid: worker.process.pid, code, pause: restartDelayMs },
      'a process died and will be restarted',
    );
    await delay(restartDelayMs, undefined, { signal: stopping }).catch(() => undefined);
    if (stopping.aborted) return;
  }
}

/** Repeats the request, because a process that is still starting doesn't listen for it yet. */
function requestStop(worker: Worker, stopping: AbortSignal): { end(): void } {
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
  const stopRequest = requestStop(worker, stopping);
  const url = new Promise<string>((resolve) => {
    worker.on('message', (message: Partial<ReadyMessage>) => {
      if (message.answersAt !== undefined) resolve(message.answersAt);
    });
  });
  const found = await Promise.race([url, exitOf(worker)]);
  stopRequest.end();
  return typeof found === 'string' ? { worker, url: found } : found;
}

function exitOf(worker: Worker): Promise<number> {
  return new Promise((resolve) => worker.once('exit', (code) => resolve(code ?? 1)));
}
