import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../app.ts';
import type { Log } from '../../base/values/log.ts';
import type { Installation } from './open-installation.ts';

/** Under npm, a terminal's Ctrl-C arrives twice: from the terminal, which signals the whole group, and from npm. */
const duplicateSignalMs = 500;

/**
 * Aborts at the first SIGTERM, SIGINT or SIGHUP; a second one, after a moment, ends the process at once. A parent
 * process can send the message `stop` instead, which never counts as a second signal. The end of its channel, such as that of a
 * killed `bin/launch.js`, is one, too.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort(new Error('stop requested'));
  let first: number | undefined;
  const onSignal = (): void => {
    first ??= performance.now();
    if (performance.now() - first > duplicateSignalMs) process.exit(1);
    stop();
  };
  process.on('message', (message) => {
    if (message === 'stop') stop();
  });
  if (process.connected === false) stop();
  else process.once('disconnect', stop);
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, onSignal);
  return controller.signal;
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}

let watching = false;

/**
 * Exits on a signal instead of being killed, because only an exit stops the embedded database, which runs in its own
 * session and doesn't get Ctrl-C. Uncommitted changes are rolled back.
 */
export function exitOnSignal(): void {
  if (watching) return;
  watching = true;
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(name, () => process.exit(128 + constants.signals[name]));
}

/** Responds to `/readyz` with 503 for DRAIN_SECONDS, before the service stops accepting connections. */
export async function drain(
  app: Pick<App, 'http'>,
  { drainSeconds }: { readonly drainSeconds: number },
): Promise<void> {
  app.http.draining.begin();
  await delay(drainSeconds * 1_000);
}

/** Timeout of a graceful stop. The next start recovers unfinished messages by their leases. */
const stopTimeoutMs = 28_000;

/** Stops the service, then the database, within 30 seconds. */
export async function stopWithTimeout(
  app: App,
  installation: Installation,
  log: Log,
): Promise<void> {
  const timer = setTimeout(() => {
    log.warn('shutdown timed out; the next start will finish the rest');
    process.exit(0);
  }, stopTimeoutMs);
  timer.unref();
  await app.stop();
  await installation.close();
  clearTimeout(timer);
}
