import { setTimeout as delay } from 'node:timers/promises';

/** How long a stop waits for the last export. */
const closeTimeoutMs = 3_000;

/** Waits for the last export of a provider. @returns false if it failed or took too long */
export async function settleExport(shutdown: Promise<void>): Promise<boolean> {
  const timeout = new AbortController();
  const late = delay(closeTimeoutMs, false, { signal: timeout.signal }).catch(() => false);
  const isDone = shutdown.then(
    () => true,
    () => false,
  );
  const result = await Promise.race([isDone, late]);
  timeout.abort();
  return result;
}
