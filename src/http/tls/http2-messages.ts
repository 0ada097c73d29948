import {
  constants,
  Http2ServerRequest,
  Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { ReadableOptions } from 'node:stream';

/**
 * A request over HTTP/2 that behaves like one over HTTP/1.1: an incomplete body is an error instead of its end, destroying
 * the request ends its stream, and `:authority` is Host (RFC 9113 section 8.3.1).
 */
export class Http2Request extends Http2ServerRequest {
  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    options: ReadableOptions,
    rawHeaders: readonly string[],
  ) {
    super(stream, headers, options, rawHeaders);
    const authority = headers[':authority'];
    if (authority !== undefined) headers.host = authority;
    this.once('aborted', () => this.destroy(new Error('the client reset the stream')));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const { stream } = this;
    if (!stream.closed)
      stream.close(stream.writableEnded ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_CANCEL);
    // As in HTTP/1.1, a request that nobody reads fails silently.
    done(this.listenerCount('error') === 0 ? null : error);
  }
}

/**
 * A response over HTTP/2 to code written for HTTP/1.1. `Connection: close`, which is illegal here (RFC 9113 section 8.2.2),
 * comes with the response to a body that isn't read: the stream ends after the response, and the connection stays (section
 * 8.1).
 */
export class Http2Response<
  Request extends Http2ServerRequest = Http2ServerRequest,
> extends Http2ServerResponse<Request> {
  #endsStream = false;

  override setHeader(name: string, value: number | string | readonly string[]): void {
    if (!this.#isConnectionField(name)) super.setHeader(name, value);
  }

  // biome-ignore lint/suspicious/noExplicitAny: Node's two signatures, one of which has a status message
  override writeHead(status: number, ...rest: any[]): this {
    const fields: unknown = rest.findLast((value) => typeof value === 'object');
    const isKept = (name: unknown): boolean => !this.#isConnectionField(name);
    const kept = Array.isArray(fields)
      ? fields.filter((_, index) => isKept(fields[index - (index % 2)]))
      : Object.fromEntries(Object.entries(fields ?? {}).filter(([name]) => isKept(name)));
    super.writeHead(status, kept as never);
    return this;
  }

  // biome-ignore lint/suspicious/noExplicitAny: Node's three signatures
  override end(...values: any[]): this {
    super.end(...values);
    if (this.#endsStream && !this.stream.destroyed)
      this.stream.once('finish', () => this.stream.close(constants.NGHTTP2_NO_ERROR));
    return this;
  }

  override destroy(): this {
    if (!this.stream.closed) this.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    return this;
  }

  #isConnectionField(name: unknown): boolean {
    if (typeof name !== 'string' || !/^(?:connection|keep-alive)$/i.test(name)) return false;
    this.#endsStream = true;
    return true;
  }
}

// Node's class lacks what the response of HTTP/1.1 has.
for (const name of ['closed', 'destroyed'])
  Object.defineProperty(Http2Response.prototype, name, {
    get(this: Http2Response) {
      return this.stream.destroyed;
    },
  });
