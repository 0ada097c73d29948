import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { isLostConnection } from '../../base/network/lost-connection.ts';
import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import type { FaultDetail } from '../../base/values/errors.ts';
import { type AccountId, type ClientId, parseAccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';

type Method = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/**
 * The logger of one request; each line carries the request id. Creating a logger costs more than routing and few
 * requests log anything, so it is created for the first line. Its methods are on the prototype, because Fastify
 * checks each of them for every request.
 */
export class RequestLog implements FastifyBaseLogger {
  readonly #parent: Log;
  #bindings: Record<string, unknown>;
  #own: Log | undefined;

  /** @param bindings added to each line */
  constructor(parent: Log, bindings: Record<string, unknown>) {
    this.#parent = parent;
    this.#bindings = bindings;
  }

  /** Adds bindings to the lines from here on. */
  bind(bindings: Record<string, unknown>): void {
    this.#bindings = { ...this.#bindings, ...bindings };
    this.#own = undefined;
  }

  get level() {
    return this.#parent.level;
  }

  fatal(...line: unknown[]): void {
    this.#write('fatal', line);
  }

  error(...line: unknown[]): void {
    this.#write('error', line);
  }

  warn(...line: unknown[]): void {
    this.#write('warn', line);
  }

  info(...line: unknown[]): void {
    this.#write('info', line);
  }

  debug(...line: unknown[]): void {
    this.#write('debug', line);
  }

  trace(...line: unknown[]): void {
    this.#write('trace', line);
  }

  silent(): void {}

  child(...given: Parameters<Log['child']>): FastifyBaseLogger {
    return this.#log().child(...given);
  }

  #write(method: Method, line: unknown[]): void {
    if (!this.#parent.isLevelEnabled(method)) return;
    const log = this.#log();
    (log[method] as (...line: unknown[]) => void).apply(log, line);
  }

  #log(): Log {
    this.#own ??= this.#parent.child(this.#bindings);
    return this.#own;
  }
}

/** Logs why a request failed; without the error if its client reset the connection, which clients can do as often as they like. */
export function logFailure(
  { raw, log }: Pick<FastifyRequest, 'raw' | 'log'>,
  error: unknown,
  message: string,
): void {
  if (isLostConnection(raw.errored)) log.debug('the client left in the middle of a request');
  else log.error({ err: error }, message);
}

/** A request that has ended. */
interface EndedRequest {
  readonly requestId: string;
  readonly method: string | undefined;
  /** The pattern of its route; undefined if there is none. Never its path or query, which can hold secrets. */
  readonly route: string | undefined;
  /** The account of its path. */
  readonly accountId: AccountId | undefined;
  /** Undefined if the connection ended before the response. */
  readonly status: number | undefined;
  readonly durationMs: number;
  /** Of the response body; undefined if it was streamed. */
  readonly bytes: number | undefined;
  /** The client's IP address. */
  readonly client: string;
}

/** Who calls, by an `Authorization` header that isn’t checked yet, or as whom they were admitted. */
export type Credential =
  | { readonly authorization: string | undefined }
  | { readonly accountId: AccountId; readonly clientId: ClientId };

/** Why a request failed, as its response says. */
export interface RequestFailure {
  /** The name of the error, such as `VALIDATION_FAILED`. */
  readonly error: string;
  readonly details: readonly FaultDetail[];
}

/** A request whose caller had a valid credential, perhaps, and an error as its response. */
export interface FailedRequest
  extends RequestFailure,
    Pick<EndedRequest, 'requestId' | 'method' | 'route' | 'accountId'> {
  readonly status: number;
  readonly credential: Credential;
}

export type OnFailed = (request: FailedRequest) => void;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request has failed with an error that its caller may want to look up. */
    failure?: RequestFailure;
  }
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
export function accountOfPath(route: string | undefined, path = ''): AccountId | undefined {
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

/** Tells of the requests that the framework handles and that failed. */
export function reportFailures(http: FastifyInstance, onFailed: OnFailed): void {
  http.addHook('onResponse', (request, reply, done) => {
    const { failure, id: requestId, method, url, headers } = request;
    const { url: route } = request.routeOptions;
    if (failure !== undefined)
      onFailed({
        ...failure,
        requestId,
        method,
        route,
        accountId: accountOfPath(route, url),
        status: reply.statusCode,
        credential: { authorization: headers.authorization },
      });
    done();
  });
}
