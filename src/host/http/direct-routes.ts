import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyContextConfig, FastifyInstance, HTTPMethods } from 'fastify';
import type { Tracing } from '../../base/telemetry/tracing.ts';
import type { Log } from '../../base/values/log.ts';
import { lacksHost, missingHost, refuseHead, unknownExpectation } from './answer-unusable-head.ts';
import type { CrossOrigin, TransportHeader } from './browser-headers.ts';
import type { Draining } from './close-connections.ts';
import { Exchange, type ExchangeContext } from './exchange.ts';
import type { BodyTraffic } from './limits/body-traffic.ts';
import type { UnsentResponses } from './limits/limit-responses.ts';
import { findLimit } from './limits/limit-routes.ts';
import type { Peers } from './limits/peers.ts';
import type { RouteLimit } from './limits/route-limits.ts';
import type { AccessLog, OnFailed } from './request-log.ts';
import { stripBaseSlash } from './request-path.ts';

/** Responds to an exchange. If it throws, the error is logged and the connection closed. */
export type DirectHandler = (exchange: Exchange) => Promise<void>;

interface DirectRoute {
  readonly prefix: string;
  /** What the whole target must match; undefined if the prefix is enough. */
  readonly pattern: RegExp | undefined;
  readonly context: ExchangeContext;
  readonly handler: DirectHandler;
}

export interface DirectRoutesDependencies {
  readonly log: Log;
  readonly limits: readonly RouteLimit[];
  readonly traffic: BodyTraffic;
  readonly unsent: UnsentResponses;
  readonly peers: Peers;
  /** A header field of every response. */
  readonly transport: TransportHeader;
  readonly crossOrigin: CrossOrigin | undefined;
  readonly draining: Draining;
  readonly tracing: Tracing | undefined;
  readonly access: AccessLog | undefined;
  readonly onFailed: OnFailed | undefined;
}

/**
 * Routes handled on Node's own request and response, because the framework's hooks, body parser and reply would cost
 * the send operation a fifth of its CPU time. Also registered with the framework, for the second server it creates when
 * listening on both addresses of `localhost`.
 */
export class DirectRoutes {
  readonly #http: FastifyInstance;
  readonly #dependencies: DirectRoutesDependencies;
  readonly #routes: DirectRoute[] = [];

  constructor(http: FastifyInstance, dependencies: DirectRoutesDependencies) {
    this.#http = http;
    this.#dependencies = dependencies;
    const { server } = http;
    const [framework] = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      if (lacksHost(request)) return refuseHead(request, response, dependencies, missingHost);
      const route = this.#find(request);
      if (route === undefined) framework?.(request, response);
      else this.#answer(route, request, response);
    });
    server.on('checkExpectation', (request, response) =>
      refuseHead(request, response, dependencies, unknownExpectation),
    );
  }

  /**
   * Sends each POST whose path begins with the prefix to a handler.
   * @param prefix ends with a slash
   * @param name the route's name in logs
   */
  post(prefix: string, name: string, handler: DirectHandler): void {
    this.#add(`${prefix}*`, { prefix, pattern: undefined, handler }, name);
  }

  /**
   * Sends each POST to a path to a handler. Call before `post` for a prefix of it.
   * @param path with parameters, such as `/items/:id/copy`
   * @param end of the path as a regular expression: what may follow it
   */
  postTo(path: string, handler: DirectHandler, end = '/?'): void {
    const prefix = path.slice(0, path.indexOf(':'));
    const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, '[^/?]+')}${end}(?:\\?|$)`);
    this.#add(path, { prefix, pattern, handler }, path);
  }

  /**
   * Sends requests to a handler that reads its bodies itself, once the framework has found the route.
   * @param url with parameters, or `*` at its end
   * @param access who can call it
   */
  on(
    methods: readonly HTTPMethods[],
    url: string,
    access: FastifyContextConfig['access'],
    handler: DirectHandler,
  ): void {
    const context = this.#contextOf(methods, url, url);
    this.#register(methods, url, { context, handler }, access);
  }

  #add(url: string, parts: Omit<DirectRoute, 'context'>, name: string): void {
    const route = { ...parts, context: this.#contextOf(['POST'], url, name) };
    this.#routes.push(route);
    this.#register(['POST'], url, route);
  }

  #contextOf(methods: readonly string[], url: string, name: string): ExchangeContext {
    const { limits, draining, ...shared } = this.#dependencies;
    const limit = findLimit(limits, methods, url);
    if (limit === undefined)
      throw new Error(`${methods.join(', ')} ${url} is missing from the table of limits`);
    return { ...shared, route: name, closing: () => draining.isOn, limit };
  }

  #register(
    methods: readonly HTTPMethods[],
    url: string,
    route: Pick<DirectRoute, 'context' | 'handler'>,
    access?: FastifyContextConfig['access'],
  ): void {
    this.#http.route({
      method: [...methods],
      url,
      config: { recordsItself: true, ...(access !== undefined && { access }) },
      onRequest: (request, reply) => {
        reply.hijack();
        this.#answer(route, request.raw, reply.raw);
      },
      handler: () => undefined,
    });
  }

  #find(request: IncomingMessage): DirectRoute | undefined {
    if (request.method !== 'POST') return undefined;
    const url = stripBaseSlash(request.url ?? '');
    const route = this.#routes.find(
      ({ prefix, pattern }) => url.startsWith(prefix) && (pattern?.test(url) ?? true),
    );
    if (route !== undefined) request.url = url;
    return route;
  }

  #answer(
    { context, handler }: Pick<DirectRoute, 'context' | 'handler'>,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const exchange = new Exchange(request, response, context);
    handler(exchange).catch((error: unknown) => {
      exchange.log.error({ err: error }, 'request failed');
      exchange.abandon();
    });
  }
}
