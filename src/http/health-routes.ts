import type { Http } from './create-http.ts';

/** Resolves with undefined when the node can serve; else with why not, in a few words. */
export type Readiness = () => Promise<string | undefined>;

/**
 * `GET /healthz`: 200 while the process answers at all.
 * `GET /readyz`: 200 while the database is reachable and its migrations are current, else 503 with the reason.
 */
export function registerHealthRoutes(http: Http, readiness: Readiness): void {
  http.get('/healthz', async () => ({ status: 'ok' }));
  http.get('/readyz', async (_request, reply) => {
    const reason = await readiness().catch(() => 'the database cannot be reached');
    if (reason === undefined) return { status: 'ready' };
    return reply.code(503).header('retry-after', 1).send({ status: 'not ready', reason });
  });
}
