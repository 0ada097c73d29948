import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { drainBody } from '../read-body.ts';
import { type BodyRefusal, bodyTooLarge, bodyTooSlow } from './body-refusal.ts';
import type { BodyShare } from './body-traffic.ts';
import type { RouteLimit } from './route-limit.ts';

/** A request's body on its way to the parser: fails if it is too large, too slow or over capacity. */
export class CountedBody extends Transform {
  readonly #request: IncomingMessage;
  readonly #share: BodyShare;
  readonly #limit: number;
  readonly #timeout: NodeJS.Timeout;
  #bytes = 0;

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
    this.#bytes += chunk.length;
    const refusal = this.#refuse(chunk.length);
    if (refusal === undefined) done(null, chunk);
    else done(refusal);
  }

  #refuse(bytes: number): BodyRefusal | undefined {
    if (this.#bytes > this.#limit) return bodyTooLarge(this.#limit);
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
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timeout);
    done(error);
  }
}
