import type { FastifyInstance } from 'fastify';
import { parseAccountId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import type { TraceSpan } from '../foundation/tracing/tracing.ts';

/** A request that has ended. */
export interface EndedRequest {
  readonly requestId: string;
  readonly method: string | undefined;
  /** The pattern of its route; undefined if there is none. Never its path or query, which can hold secrets. */
  readonly route: string | undefined;
  /** The account of its path. */
  readonly accountId: string | undefined;
  /** Undefined if the connection ended before the response. */
  readonly status: number | undefined;
  readonly durationMs: number;
  /** Of the response body; undefined if it was streamed. */
  readonly bytes: number | undefined;
  /** The client's IP address. */
  readonly client: string;
}

/** One line for each request, whatever LOG_LEVEL is. */
export class AccessLog {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log.child({ log: 'access' }, { level: 'info' });
  }

  write(request: EndedRequest, span: TraceSpan | undefined): void {
    const durationMs = Math.round(request.durationMs * 10) / 10;
    this.#log.info({ ...request, durationMs, ...span?.logFields }, 'request');
  }
}

/** The account ID in a path. @param route the pattern of the path */
export function accountOfPath(route: string | undefined, path = ''): string | undefined {
  const place = route?.split('/').indexOf(':accountId') ?? -1;
  if (place === -1) return undefined;
  return parseAccountId(path.split(/[?#]/, 1)[0]?.split('/')[place] ?? '');
}

/** Logs the requests that the framework handles. */
export function logAccess(http: FastifyInstance, access: AccessLog): void {
  http.addHook('onResponse', (request, reply, done) => {
    const { url: route, config } = request.routeOptions;
    if (config.recordsItself) return done();
    const length = Number(reply.getHeader('content-length') ?? Number.NaN);
    const { id: requestId, method, url, ip: client, span } = request;
    access.write(
      {
        requestId,
        method,
        route,
        accountId: accountOfPath(route, url),
        status: reply.raw.writableFinished ? reply.statusCode : undefined,
        durationMs: reply.elapsedTime,
        bytes: Number.isNaN(length) ? undefined : length,
        client,
      },
      span,
    );
    done();
  });
}
