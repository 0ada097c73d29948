import type { App } from '../app.ts';
import type { Log } from '../foundation/log.ts';
import type { Installation } from './open-installation.ts';

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
