import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { ByteCollector } from '../../foundation/byte-collector.ts';
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
