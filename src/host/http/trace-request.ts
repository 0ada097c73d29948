import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { TraceSpan, Tracing } from '../../base/telemetry/tracing.ts';
import type { RequestLog } from './request-log.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the request is traced. */
    span?: TraceSpan;
  }
  interface FastifyContextConfig {
    /** The route has its own span and line in the access log. */
    readonly recordsItself?: boolean;
  }
}

/** Paths of the contract, the management API and the reports of relays; pages and probes aren't traced. */
const tracedPaths =
  /^\/(?:ete\/v1\/|api\/1\/|manage\/v1\/|intake\/|(?:token|authorize|revoke|introspect)$)/;

/**
 * Starts the span of a request, by the semantic conventions for HTTP without `url.path`, `url.query`, `client.address` and
 * `user_agent.original`: a caller can put an address or a secret into any of them.
 * @param route its pattern, such as `/ete/v1/message/:accountId/:messageId`
 */
export function startRequestSpan(
  tracing: Tracing,
  request: IncomingMessage,
  route: string,
): TraceSpan | undefined {
  const { method = '', headers, httpVersion, socket } = request;
  const pattern = nameParameters(route);
  return tracing.startRequest(`${method} ${pattern}`, headers, {
    'http.request.method': method,
    'http.route': pattern,
    'url.scheme': (socket as TLSSocket).encrypted === true ? 'https' : 'http',
    'network.protocol.version': httpVersion.replace(/\.0$/, ''),
  });
}

/** Ends the span of a request. Only errors of the service count as failures of a server span. */
export function endRequestSpan(span: TraceSpan, status: number): void {
  span.set({ 'http.response.status_code': status });
  if (status >= 500) span.fail(String(status));
  span.end();
}

/** Traces the requests that the framework handles. */
export function traceRequests(http: FastifyInstance, tracing: Tracing): void {
  http.addHook('onRequest', (request, _reply, done) => {
    const { url: route, config } = request.routeOptions;
    if (route === undefined || config.recordsItself || !tracedPaths.test(route)) return done();
    const span = startRequestSpan(tracing, request.raw, route);
    if (span !== undefined) {
      request.span = span;
      (request.log as RequestLog).bind(span.logFields);
    }
    done();
  });
  http.addHook('onResponse', (request, reply, done) => {
    if (request.span !== undefined) endRequestSpan(request.span, reply.statusCode);
    done();
  });
}

/** `:accountId` becomes `{account_id}`. */
function nameParameters(route: string): string {
  return route.replaceAll(
    /:(\w+)/g,
    (_, name: string) => `{${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}}`,
  );
}
