import { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import type { FastifyInstance, preParsingHookHandler, RouteOptions } from 'fastify';
import { ByteCollector } from '../../../base/fairness/byte-collector.ts';
import { drainBody } from '../read-body.ts';
import { accountOfPath } from '../request-log.ts';
import {
  type BodyRefusal,
  type BodyShare,
  type BodyTraffic,
  bodyTooLarge,
  bodyTooSlow,
} from './body-traffic.ts';
import type { RouteLimit } from './route-limits.ts';

const smallBytes = 4 * 1024;
/** Pieces that may wait for a reader. What waits has 64 KiB at most, so only senders of tiny pieces reach this. */
const maxUnreadPieces = 1_024;
/** Of the body of a GET request, which nothing reads. */
const maxIgnoredBytes = 64 * 1024;

/**
 * A request whose body takes memory in proportion to its bytes. Node makes a Buffer for each HTTP chunk, and a chunk of one byte
 * would take 500 bytes until something reads it.
 */
export class BoundedRequest extends IncomingMessage {
  #hasBegun = false;
  /** Small chunks of this turn of the event loop. */
  #small: ByteCollector | undefined;
  #unreadPieces = 0;
  #ignoredBytes = 0;

  override push(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.#pushSmall();
      return super.push(null);
    }
    if (this.destroyed) return false;
    // RFC 9110 sections 9.3.1 and 9.3.2: content of GET and HEAD has no meaning, and the connection may be closed.
    if (this.method === 'GET' || this.method === 'HEAD') {
      this.#ignoredBytes += chunk.length;
      if (this.#ignoredBytes > maxIgnoredBytes) this.destroy();
      return true;
    }
    if (this.#hasBegun && chunk.length < smallBytes) return this.#collect(chunk);
    this.#hasBegun = true;
    this.#pushSmall();
    return this.#pushPiece(chunk);
  }

  #collect(chunk: Buffer): boolean {
    if (this.#small === undefined) {
      this.#small = new ByteCollector();
      // A tick would run after each chunk: Node runs them whenever the parser calls back.
      setImmediate(() => this.#pushSmall());
    }
    this.#small.add(chunk);
    return this.readableLength + this.#small.length < this.readableHighWaterMark;
  }

  #pushSmall(): void {
    const small = this.#small;
    if (small === undefined) return;
    this.#small = undefined;
    this.#pushPiece(small.take());
  }

  #pushPiece(piece: Buffer): boolean {
    if (this.destroyed) return false;
    if (this.readableLength === 0) this.#unreadPieces = 0;
    this.#unreadPieces += 1;
    if (this.#unreadPieces <= maxUnreadPieces) return super.push(piece);
    this.destroy();
    return false;
  }
}

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

/** A request's body on its way to the parser: fails if it is too large, too slow or over capacity. */
class CountedBody extends Transform {
  readonly #request: IncomingMessage;
  readonly #share: BodyShare;
  readonly #limit: number;
  readonly #timeout: NodeJS.Timeout;
  /** The parser keeps every piece that it gets, so it gets all of them at the end. */
  readonly #collected = new ByteCollector();

  constructor(
    request: IncomingMessage,
    { bodyBytes, bodySeconds }: Pick<RouteLimit, 'bodyBytes' | 'bodySeconds'>,
    share: BodyShare,
  ) {
    super();
    this.#request = request;
    this.#share = share;
    this.#limit = bodyBytes;
    this.#timeout = setTimeout(() => this.destroy(bodyTooSlow(bodySeconds)), bodySeconds * 1_000);
    this.#timeout.unref();
    share.onEvict = (refusal) => this.destroy(refusal);
    // A body can fail unread, if its content type was rejected.
    this.on('error', () => undefined);
    request.once('error', (error) => this.destroy(error));
    request.pipe(this);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const refusal = this.#refuse(chunk.length);
    if (refusal === undefined) this.#collected.add(chunk);
    done(refusal);
  }

  #refuse(bytes: number): BodyRefusal | undefined {
    if (this.#collected.length + bytes > this.#limit) return bodyTooLarge(this.#limit);
    return this.#share.claim(bytes);
  }

  /** After the response: discards the unread rest, so that the connection can serve its next request. */
  abandon(): void {
    this.#request.unpipe(this);
    this.destroy();
    if (!drainBody(this.#request)) this.#request.destroy();
  }

  override _flush(done: TransformCallback): void {
    clearTimeout(this.#timeout);
    this.#share.settle();
    for (const piece of this.#collected.takePieces()) this.push(piece);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timeout);
    this.#collected.clear();
    done(error);
  }
}
