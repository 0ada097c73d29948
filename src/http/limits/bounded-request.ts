import { IncomingMessage } from 'node:http';
import { ByteCollector } from '../../foundation/byte-collector.ts';

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
