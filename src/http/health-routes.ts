import { setTimeout as delay } from 'node:timers/promises';
import type { Http } from './create-http.ts';

/** Resolves with undefined if the node can serve, else with a short reason. */
export type Readiness = () => Promise<string | undefined>;

/** How long a probe waits for the database, in milliseconds. */
const probeTimeoutMs = 3_000;

/**
 * `GET /healthz`: 200 while the process responds.
 * `GET /readyz`: 200 while the database is reachable and its migrations are current, else 503 with the reason, within
 * three seconds even if the database hangs. Concurrent probes share one query.
 */
export function registerHealthRoutes(http: Http, readiness: Readiness): void {
  let pendingCheck: ReturnType<Readiness> | undefined;
  const checkReadiness = (): ReturnType<Readiness> => {
    pendingCheck ??= readiness()
      .catch(() => 'the database cannot be reached')
      .finally(() => {
        pendingCheck = undefined;
      });
    return pendingCheck;
  };
  http.get('/healthz', async () => ({ status: 'ok' }));
  http.get('/readyz', async (_request, reply) => {
    const timer = new AbortController();
    const reason = await Promise.race([
      checkReadiness(),
      delay(probeTimeoutMs, 'the database is not responding', { signal: timer.signal }),
    ]);
    timer.abort();
    if (reason === undefined) return { status: 'ready' };
    return reply.code(503).header('retry-after', 1).send({ status: 'not ready', reason });
  });
}
