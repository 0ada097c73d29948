import { Registry } from 'prom-client';
import { within } from '../../base/values/within.ts';
import { bearerTokenOf, isSameSecret } from './bearer-token.ts';
import type { Http } from './create-http.ts';

/** Resolves with undefined if the node can serve, else with a short reason. */
type Readiness = () => Promise<string | undefined>;

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
    const reason = await within(
      checkReadiness(),
      probeTimeoutMs,
      () => 'the database is not responding',
    );
    if (reason === undefined) return { status: 'ready' };
    return reply.code(503).header('retry-after', 1).send({ status: 'not ready', reason });
  });
}

/** Who can read the metrics: everyone, anyone with the token, or no one if there is no token. */
interface MetricsReaders {
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
