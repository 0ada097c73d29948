import { Registry } from 'prom-client';
import { bearerTokenOf, isSameSecret } from './bearer-token.ts';
import type { Http } from './create-http.ts';

/** Who can read the metrics: everyone, anyone with the token, or no one if there is no token. */
export interface MetricsReaders {
  readonly public: boolean;
  readonly token: string | undefined;
}

/**
 * `GET /metrics`: Prometheus text format. 401 without the token, wherever the request comes from.
 * @param readMetrics returns the metrics of all processes that share the port
 */
export function registerMetricsRoutes(
  http: Http,
  readMetrics: () => Promise<string>,
  readers: MetricsReaders,
): void {
  http.get('/metrics', async (request, reply) => {
    const given = bearerTokenOf(request);
    const { token } = readers;
    const isAuthorized = given !== undefined && token !== undefined && isSameSecret(given, token);
    if (!readers.public && !isAuthorized) {
      const problem = given === undefined ? '' : ', error="invalid_token"';
      return reply
        .code(401)
        .header('www-authenticate', `Bearer realm="signalpost metrics"${problem}`)
        .send({
          status: 401,
          message:
            token === undefined
              ? 'Metrics require a token. Set METRICS_TOKEN and send it as a Bearer token, or set METRICS_PUBLIC=1.'
              : 'Metrics require the token in METRICS_TOKEN as a Bearer token.',
          requestId: request.id,
        });
    }
    return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(await readMetrics());
  });
}
