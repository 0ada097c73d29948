import type { App } from '../app.ts';
import type { Log } from '../foundation/log.ts';
import type { Installation } from './open-installation.ts';

/** An orderly stop takes no longer; what is still under way then is found by its lease at the next start. */
const stopTimeoutMs = 28_000;

/** Stops the service, then the database, within 30 seconds of being asked. */
export async function stopWithTimeout(
  app: App,
  installation: Installation,
  log: Log,
): Promise<void> {
  const timer = setTimeout(() => {
    log.warn('the stop took too long; leaving what is unfinished to the next start');
    process.exit(0);
  }, stopTimeoutMs);
  timer.unref();
  await app.stop();
  await installation.close();
  clearTimeout(timer);
}
