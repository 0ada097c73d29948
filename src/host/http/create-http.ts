import { type RequestListener, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type FastifyInstance, fastify, LogController } from 'fastify';
import { isUnavailable } from '../../base/database/sqlstate.ts';
import { guardListeners } from '../../base/network/smtp-listener.ts';
import type { Tracing } from '../../base/telemetry/tracing.ts';
import { newId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import { lacksHost, missingHost } from './answer-unusable-head.ts';
import {
  CrossOrigin,
  eachField,
  strictTransport,
  type TransportHeader,
} from './browser-headers.ts';
import { closeFinishedConnections, Draining } from './close-connections.ts';
import { DirectRoutes } from './direct-routes.ts';
import { BodyRefusal, BodyTraffic } from './limits/body-traffic.ts';
import { type ConnectionLimits, limitConnections } from './limits/limit-connections.ts';
import { limitResponses, UnsentResponses } from './limits/limit-responses.ts';
import { BoundedRequest, limitRoutes } from './limits/limit-routes.ts';
import { Peers } from './limits/peers.ts';
import type { RouteLimit } from './limits/route-limits.ts';
import { plainPage, plainPagePolicy } from './plain-page.ts';
import { skipBody } from './read-body.ts';
import type { AccessLog, OnFailed } from './request-log.ts';
import { logAccess, logFailure, RequestLog, reportFailures } from './request-log.ts';
import { addHostPrefix, escapeMalformedPercent, stripBaseSlash } from './request-path.ts';
import { createTlsServer } from './tls/create-tls-server.ts';
import type { LiveCertificate } from './tls/live-certificate.ts';
import { RawSockets } from './tls/raw-sockets.ts';
import { traceRequests } from './trace-request.ts';

export interface HttpOptions {
  readonly log: Log;
  /** Addresses or networks of proxies whose X-Forwarded-* headers are trusted. */
  readonly trustProxy: readonly string[];
  /** The limits of every route that may be registered. */
  readonly routes: readonly RouteLimit[];
  readonly connections?: ConnectionLimits;
  /** Of the memory for bodies and responses. */
  readonly memoryShare?: number;
  /** The server speaks TLS with this certificate. */
  readonly certificate?: LiveCertificate | undefined;
  /** Clients reach the service by https: every response tells browsers to use nothing else. */
  readonly https?: boolean;
  /** Origins whose pages can call the API. */
  readonly crossOrigins?: readonly string[];
  /** What comes before the path of each request to a host: `/resend`, by host name in lower case. */
  readonly hostPrefixes?: ReadonlyMap<string, string>;
  /** Why this node serves only its probes and metrics, for the clients that ask it for more; undefined: it serves everything. */
  readonly misdirected?: string | undefined;
  /** Undefined: requests aren't traced. */
  readonly tracing?: Tracing | undefined;
  /** Undefined: there is no access log. */
  readonly access?: AccessLog | undefined;
  /** Called for each request of the API that fails. */
  readonly onFailed?: OnFailed;
}

export type Http = FastifyInstance;

declare module 'fastify' {
  interface FastifyInstance {
    /** Routes that bypass the framework. */
    readonly direct: DirectRoutes;
    /** The request bodies in memory. */
    readonly bodyTraffic: BodyTraffic;
    readonly unsentResponses: UnsentResponses;
    readonly peers: Peers;
    readonly draining: Draining;
  }
}

/** Interval for finding connections whose request takes too long to arrive. */
const checkIntervalMs = 5_000;

/** Upper bound for a client that trickles its request in; the table of routes has shorter limits for bodies. */
const requestTimeoutMs = 900_000;
const keepAliveTimeoutMs = 72_000;

const serverOptions = {
  IncomingMessage: BoundedRequest,
  headersTimeout: 15_000,
  connectionsCheckingInterval: checkIntervalMs,
  // Node would respond without a body; `answer-unusable-head.ts` refuses these requests.
  requireHostHeader: false,
};

const tlsServerOptions = {
  ...serverOptions,
  requestTimeout: requestTimeoutMs,
  keepAliveTimeout: keepAliveTimeoutMs,
};

/**
 * Creates the HTTP server without routes and not listening. Every response carries X-Request-Id, a trailing slash
 * changes nothing, and the table of routes limits sizes and times for anonymous callers.
 */
export function createHttp(options: HttpOptions): Http {
  const transport: TransportHeader = options.https === true ? strictTransport : [];
  const { certificate } = options;
  const http = fastify({
    loggerInstance: options.log,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    childLoggerFactory: (log, bindings) => new RequestLog(log as Log, bindings),
    genReqId: newId,
    trustProxy: options.trustProxy.length === 0 ? false : [...options.trustProxy],
    requestTimeout: requestTimeoutMs,
    http: serverOptions,
    ...(certificate && {
      serverFactory: (handler: RequestListener) =>
        createTlsServer(certificate, tlsServerOptions, handler),
    }),
    connectionTimeout: 0,
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => answerClientError(error, socket, options.log, transport),
    rewriteUrl: (request) => escapeMalformedPercent(stripBaseSlash(request.url ?? '/')),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
  }) as unknown as Http;
  guardListeners(http.server, options.log);
  const crossOrigin =
    options.crossOrigins === undefined || options.crossOrigins.length === 0
      ? undefined
      : new CrossOrigin(options.crossOrigins);
  const peers = new Peers(options.trustProxy, (address) =>
    options.log.warn(
      { address },
      'X-Forwarded-For comes from an address that TRUST_PROXY doesn’t name, so all clients behind it count as one',
    ),
  );
  const unsent = new UnsentResponses(peers, options.memoryShare);
  const traffic = new BodyTraffic(peers, options.memoryShare);
  http.decorate('bodyTraffic', traffic);
  const draining = new Draining(http);
  http.decorate('draining', draining);
  http.decorate(
    'direct',
    new DirectRoutes(http, {
      log: options.log,
      limits: options.routes,
      traffic,
      unsent,
      peers,
      transport,
      crossOrigin,
      draining,
      tracing: options.tracing,
      access: options.access,
      onFailed: options.onFailed,
    }),
  );
  const rawSockets = new RawSockets(http.server);
  if (options.connections !== undefined)
    limitConnections(http.server, options.connections, { peers, rawSockets });
  closeFinishedConnections(http, rawSockets);
  if (certificate !== undefined) {
    certificate.start();
    http.addHook('onClose', async () => certificate.stop());
  }
  if (options.access !== undefined) logAccess(http, options.access);
  if (options.onFailed !== undefined) reportFailures(http, options.onFailed);
  limitRoutes(http, options.routes, traffic);
  limitResponses(http, unsent);
  http.decorate('unsentResponses', unsent);
  http.decorate('peers', peers);
  // Before everything else that handles the request.
  http.server.prependListener('request', (request) => peers.readForwarded(request));
  const { hostPrefixes } = options;
  if (hostPrefixes !== undefined && hostPrefixes.size > 0)
    http.server.prependListener('request', (request) => addHostPrefix(request, hostPrefixes));
  if (options.tracing !== undefined) traceRequests(http, options.tracing);
  http.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (request.is404) skipBody(request, reply);
    const [name, value] = transport;
    if (name !== undefined) reply.header(name, value);
    if (lacksHost(request.raw)) {
      const [status, message] = missingHost;
      reply.code(status).send({ status, message, requestId: request.id });
      return;
    }
    if (crossOrigin !== undefined) {
      eachField(crossOrigin.headersFor(request.raw), (field, text) => reply.header(field, text));
      const preflight = crossOrigin.preflightFor(request.raw);
      if (preflight !== undefined) {
        skipBody(request, reply);
        eachField(preflight, (field, text) => reply.header(field, text));
        reply.code(204).send();
        return;
      }
    }
    done();
  });
  http.addHook('onResponse', (request, reply, done) => {
    request.log.debug(
      {
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
      },
      'answered',
    );
    done();
  });
  http.setNotFoundHandler((request, reply) => {
    // RFC 9110 section 15.5.20: another server of the installation serves this.
    if (options.misdirected !== undefined)
      return reply
        .code(421)
        .send({ status: 421, message: options.misdirected, requestId: request.id });
    reply.code(404);
    // A browser that opens an address, not a program.
    if (request.method !== 'GET' || request.headers.accept?.includes('text/html') !== true)
      return reply.send({ status: 404, message: 'Not Found', requestId: request.id });
    return reply
      .header('content-security-policy', plainPagePolicy)
      .type('text/html; charset=utf-8')
      .send(
        plainPage('Page not found', 'Check the address.', {
          label: 'Go to the console',
          href: '/console',
        }),
      );
  });
  http.setErrorHandler((error, request, reply) => {
    const given = statusOf(error);
    const status = isUnavailable(error) ? 503 : given;
    if (status >= 500 && !(error instanceof BodyRefusal))
      logFailure(request, error, 'request failed');
    const refusal = error instanceof BodyRefusal ? error : undefined;
    if (status === 503 || refusal?.retryAfter !== undefined)
      reply.header('retry-after', refusal?.retryAfter ?? 1);
    const message =
      refusal?.message ??
      (status >= 500 || !(error instanceof Error) ? publicMessage(status) : error.message);
    return reply.code(status).send({ status, message, requestId: request.id });
  });
  return http;
}

function statusOf(error: unknown): number {
  if (typeof error === 'object' && error !== null && 'statusCode' in error) {
    const status = error.statusCode;
    if (typeof status === 'number' && status >= 400 && status <= 599) return status;
  }
  return 500;
}

function publicMessage(status: number): string {
  return status === 503
    ? 'The service is temporarily unavailable; try again shortly'
    : 'Internal Server Error';
}

interface ClientError extends Error {
  readonly code?: string;
  /** The parser's description of the error. */
  readonly reason?: string;
}

/**
 * Responds to malformed or incomplete HTTP requests in the usual error format and closes the connection: 408 if it took
 * too long, 431 if the header fields are too large (RFC 6585 section 5), else 400.
 */
function answerClientError(
  error: ClientError,
  socket: Socket,
  log: Log,
  transport: TransportHeader,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const [status, message] = describeClientError(error);
  const requestId = newId();
  log.debug({ err: error, requestId, status }, 'received a malformed HTTP request');
  const body = JSON.stringify({ status, message, requestId });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `X-Request-Id: ${requestId}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...(transport.length === 0 ? [] : [transport.join(': ')]),
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroy(error);
}

function describeClientError({
  code,
  reason,
}: ClientError): readonly [status: number, message: string] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'The request did not arrive in time'];
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'The header fields are larger than 16 KiB'];
  return [400, reason ? `Malformed HTTP request: ${reason}` : 'Malformed HTTP request'];
}
