import type { FastifyInstance, preParsingHookHandler, RouteOptions } from 'fastify';
import { accountOfPath } from '../access-log.ts';
import { drainBody } from '../read-body.ts';
import { bodyTooLarge } from './body-refusal.ts';
import type { BodyTraffic } from './body-traffic.ts';
import { CountedBody } from './counted-body.ts';
import type { RouteLimit } from './route-limit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route rejects every request without reading a body, so it needs no limits. */
    readonly refusesAll?: boolean;
    /** What `authorize` asks of callers of the route; undefined: the route is public. */
    readonly access?: string;
  }
}

/** Applies limits to every route registered from here on. Registering a route that is missing from the table throws. */
export function limitRoutes(
  http: FastifyInstance,
  table: readonly RouteLimit[],
  traffic: BodyTraffic,
): void {
  http.addHook('onRoute', (route) => {
    if (route.config?.refusesAll) return;
    const methods = methodsOf(route);
    const limit = findLimit(table, methods, route.url);
    if (limit === undefined)
      throw new Error(`${methods.join(', ')} ${route.url} is missing from the table of limits`);
    // Fastify treats 0 as "use the default"; the guard rejects every body in that case.
    route.bodyLimit = Math.max(1, limit.bodyBytes);
    if (methods.every((method) => method === 'GET' || method === 'HEAD')) return;
    const others = route.preParsing ?? [];
    const guard = guardBody(limit, traffic);
    route.preParsing = [guard, ...(Array.isArray(others) ? others : [others])];
  });
}

/** The table entry for a route with these methods; undefined if no entry covers all of them. */
export function findLimit(
  table: readonly RouteLimit[],
  methods: readonly string[],
  url: string,
): RouteLimit | undefined {
  const path = url.length > 1 && url.endsWith('/') ? url.slice(0, -1) : url;
  return table.find(
    (limit) =>
      matches(limit.path, path) &&
      methods.every((method) => limit.methods.includes(method === 'HEAD' ? 'GET' : method)),
  );
}

function matches(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}

function methodsOf({ method }: Pick<RouteOptions, 'method'>): string[] {
  return Array.isArray(method) ? [...method] : [method];
}

/** Rejects a body by its headers before reading any of it, and counts what is read. */
function guardBody(limit: RouteLimit, traffic: BodyTraffic): preParsingHookHandler {
  return (request, reply, payload, done) => {
    const { raw } = request;
    const { 'content-length': length, 'transfer-encoding': coding } = raw.headers;
    const contentLength = Number(length ?? 0);
    if (contentLength === 0 && coding === undefined) return done(null, payload);
    if (contentLength > limit.bodyBytes || limit.bodyBytes === 0) {
      if (!drainBody(raw)) reply.header('connection', 'close');
      return done(bodyTooLarge(limit.bodyBytes));
    }
    if (limit.streamed) return done(null, payload);
    const account = accountOfPath(request.routeOptions.url, request.url);
    const share = traffic.open(raw, limit.known, account);
    const body = new CountedBody(raw, limit, share);
    reply.raw.once('close', () => {
      body.abandon();
      share.end();
    });
    done(null, body);
  };
}
