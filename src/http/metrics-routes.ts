import { Registry } from 'prom-client';
import type { Http } from './create-http.ts';
import { isLoopbackPeer } from './loopback.ts';

/**
 * `GET /metrics`: Prometheus text format. Answers peers on the loopback only, unless `everyone` is set.
 * @param readMetrics the numbers of all processes that share the port, as text
 */
export function registerMetricsRoutes(
  http: Http,
  readMetrics: () => Promise<string>,
  everyone: boolean,
): void {
  http.get('/metrics', async (request, reply) => {
    if (!everyone && !isLoopbackPeer(request)) {
      return reply.code(403).send({
        status: 403,
        message: 'Metrics answer on the loopback only',
        requestId: request.id,
      });
    }
    return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(await readMetrics());
  });
}
