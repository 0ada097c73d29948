import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { TraceSpan, Tracing } from '../../base/telemetry/tracing.ts';
import { Fault } from '../../base/values/errors.ts';
import { newId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import type { CrossOrigin, TransportHeader } from './browser-headers.ts';
import type { BodyShare, BodyTraffic } from './limits/body-traffic.ts';
import type { LargeBody, LargeBodySpace } from './limits/large-bodies.ts';
import type { UnsentResponses } from './limits/limit-responses.ts';
import type { Peers } from './limits/peers.ts';
import type { RouteLimit } from './limits/route-limits.ts';
import { drainBody, type RawBody, readBody } from './read-body.ts';
import type { Credential, OnFailed, RequestFailure } from './request-log.ts';
import { type AccessLog, accountOfPath, RequestLog } from './request-log.ts';
import { endRequestSpan, startRequestSpan } from './trace-request.ts';

/** State shared by the exchanges of a route. */
export interface ExchangeContext {
  readonly log: Log;
  /** The route's name in logs. */
  readonly route: string;
  /** A header field of every response. */
  readonly transport: TransportHeader;
  /** Undefined if no other origin may call. */
  readonly crossOrigin: CrossOrigin | undefined;
  /** True once the server is closing: connections then close after their response. */
  readonly closing: () => boolean;
  readonly peers: Peers;
  readonly limit: Pick<RouteLimit, 'bodyBytes' | 'bodySeconds' | 'known'>;
  readonly traffic: BodyTraffic;
  readonly unsent: UnsentResponses;
  readonly tracing: Tracing | undefined;
  readonly access: AccessLog | undefined;
  readonly onFailed: OnFailed | undefined;
}

/** A request handled without the framework, and its response. */
export class Exchange {
  /** The request ID, sent in the response and logged. */
  readonly id = newId();
  readonly request: IncomingMessage;
  /** Set if the request is traced. */
  readonly span: TraceSpan | undefined;
  /** Undefined: that of the `Authorization` header. */
  credential: Credential | undefined;
  /** Set before an answer that is an error, if its caller may want to look it up. */
  failure: RequestFailure | undefined;
  readonly #response: ServerResponse;
  readonly #context: ExchangeContext;
  readonly #startedAt = performance.now();
  #share: BodyShare | undefined;
  #space: LargeBodySpace | undefined;
  #released = false;
  /** Whether to close the connection after the response. */
  #closeAfterAnswer = false;

  constructor(request: IncomingMessage, response: ServerResponse, context: ExchangeContext) {
    this.request = request;
    this.#response = response;
    this.#context = context;
    this.span = context.tracing && startRequestSpan(context.tracing, request, context.route);
  }

  /** Milliseconds since the request head was read. */
  get elapsed(): number {
    return performance.now() - this.#startedAt;
  }

  /** The client's address. */
  get remoteAddress(): string {
    return this.#context.peers.addressOf(this.request);
  }

  /** A logger that adds the request ID to each line. */
  get log(): FastifyBaseLogger {
    return new RequestLog(this.#context.log, { requestId: this.id, ...this.span?.logFields });
  }

  /**
   * Reads the body of an authorized caller.
   * @param account whose share of memory it takes
   * @param maxBytes if the caller may send more than the route's limit
   * @throws Fault IO_EXCEPTION while there is no capacity for it
   */
  async readBody(account?: string, maxBytes?: number): Promise<RawBody> {
    const { limit, traffic } = this.#context;
    const share = traffic.open(this.request, limit.known, account);
    this.#share = share;
    const body =
      account !== undefined && maxBytes !== undefined && this.#mayExceed(limit.bodyBytes)
        ? await this.#readLarge({ account, maxBytes }, share)
        : await readBody(this.request, limit.bodyBytes, { share, seconds: limit.bodySeconds });
    if ('unusable' in body) {
      this.#closeAfterAnswer = body.tooSlow === true || body.overCapacity === true;
      if (body.overCapacity)
        throw new Fault('IO_EXCEPTION', {
          retryAfter: 1,
          cause: new Error('large bodies of other requests fill the memory for them'),
        });
    }
    return body;
  }

  #mayExceed(bytes: number): boolean {
    const length = this.request.headers['content-length'];
    return length === undefined || Number(length) > bytes;
  }

  async #readLarge(large: LargeBody, share: BodyShare): Promise<RawBody> {
    const { limit, traffic } = this.#context;
    const { bodyBytes, bodySeconds: seconds } = limit;
    const { request } = this;
    const reserve = async (length?: number): Promise<LargeBodySpace | undefined> => {
      const space = await traffic.large.reserve(large, length);
      // The connection may have been closed while the body waited.
      if (this.#released) space?.release();
      else this.#space = space;
      return this.#space;
    };
    const announced = request.headers['content-length'];
    if (announced === undefined)
      return readBody(request, bodyBytes, { share, seconds, grow: reserve });
    const length = Number(announced);
    if (length > large.maxBytes) return readBody(request, large.maxBytes);
    const space = await reserve(length);
    if (space !== undefined) return readBody(request, bodyBytes, { space });
    return { unusable: 'too many large request bodies are in progress', overCapacity: true };
  }

  /** Lets another request have the memory of a large body, which nothing reads or writes anymore. */
  recycleBody(): void {
    this.#space?.recycle();
  }

  #release(): void {
    this.#released = true;
    this.#share?.end();
    this.#space?.release();
    this.#space = undefined;
  }

  /**
   * Sends the response once, in a single write; does nothing if the client is gone.
   * @param text the body
   * @param headers additional ones: name, value, name, value…
   */
  answer(
    status: number,
    text: string,
    headers: readonly string[] = [],
    contentType = 'application/json; charset=utf-8',
  ): void {
    this.#release();
    const response = this.#response;
    const { log, route, transport, crossOrigin, closing, unsent } = this.#context;
    const head = ['x-request-id', this.id];
    const bytes = Buffer.byteLength(text);
    if (bytes > 0) head.push('content-type', contentType);
    // RFC 9110 section 8.6: an answer without content by its status has no length.
    if (status !== 204) head.push('content-length', String(bytes));
    head.push(...transport, ...headers);
    if (crossOrigin !== undefined) head.push(...crossOrigin.headersFor(this.request));
    if (closing() || this.#closeAfterAnswer || !drainBody(this.request))
      head.push('connection', 'close');
    response.writeHead(status, head);
    if (unsent.hold(this.request, response, bytes)) response.end(text);
    else response.destroy();
    if (this.span !== undefined) endRequestSpan(this.span, status);
    if (this.#context.access !== undefined) this.#logAccess(this.#context.access, status, bytes);
    if (this.failure !== undefined) this.#reportFailure(this.failure, status);
    if (log.isLevelEnabled('debug'))
      this.log.debug({ method: this.request.method, route, status }, 'answered');
  }

  #logAccess(access: AccessLog, status: number | undefined, bytes: number): void {
    const { route } = this.#context;
    const { method, url } = this.request;
    access.write(
      {
        requestId: this.id,
        method,
        route,
        accountId: accountOfPath(route, url),
        status,
        durationMs: this.elapsed,
        bytes,
        client: this.remoteAddress,
      },
      this.span,
    );
  }

  #reportFailure(failure: RequestFailure, status: number): void {
    const { route, onFailed } = this.#context;
    const { method, url, headers } = this.request;
    onFailed?.({
      ...failure,
      requestId: this.id,
      method,
      route,
      accountId: accountOfPath(route, url),
      status,
      credential: this.credential ?? { authorization: headers.authorization },
    });
  }

  /** Closes the connection without a response. */
  abandon(): void {
    this.#release();
    this.span?.fail('abandoned');
    this.span?.end();
    if (this.#context.access !== undefined) this.#logAccess(this.#context.access, undefined, 0);
    this.#response.destroy();
  }
}
