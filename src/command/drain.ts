import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../app.ts';

/** Responds to `/readyz` with 503 for DRAIN_SECONDS, before the service stops accepting connections. */
export async function drain(
  app: Pick<App, 'http'>,
  { drainSeconds }: { readonly drainSeconds: number },
): Promise<void> {
  app.http.draining.begin();
  await delay(drainSeconds * 1_000);
}
