import { createHash } from 'node:crypto';
import { ByteCollector } from '../../foundation/byte-collector.ts';
import { maxBytesRead } from './parse-feedback-mail.ts';

/** A received mail, truncated to what is parsed. */
export interface ReceivedFeedback {
  readonly source: Buffer;
  /** Bytes of the whole mail. */
  readonly size: number;
  /** SHA-256 of the whole mail, in base64url. */
  readonly digest: string;
}

/** Bytes of each mail that aren't counted against the limit; nearly all mails are shorter. */
export const uncountedBytes = 64 * 1024;

/** Receives mail within a fixed memory limit, so that opening many slow connections can't exhaust memory. */
export class FeedbackMailReceiver {
  readonly #maxHeldBytes: number;
  readonly #maxBytesRead: number;
  #held = 0;

  /**
   * @param maxHeldBytes limit for all mails together, beyond the first 64 KiB of each
   * @param maxBytes of each mail that are kept
   */
  constructor(maxHeldBytes = 32 * 1024 ** 2, maxBytes = maxBytesRead) {
    this.#maxHeldBytes = maxHeldBytes;
    this.#maxBytesRead = maxBytes;
  }

  /** Bytes held now, beyond the first 64 KiB of each mail. */
  get held(): number {
    return this.#held;
  }

  /**
   * Reads a mail to its end.
   * @param use processes the mail, which counts as held until this is done
   * @returns the result of `use`; undefined if memory was full and the sender must retry
   */
  async receive<Result>(
    stream: AsyncIterable<Buffer> | Iterable<Buffer>,
    use: (report: ReceivedFeedback) => Promise<Result>,
  ): Promise<Result | undefined> {
    const hash = createHash('sha256');
    let collected: ByteCollector | undefined = new ByteCollector();
    let size = 0;
    let readBytes = 0;
    let counted = 0;
    try {
      for await (const chunk of stream) {
        hash.update(chunk);
        size += chunk.length;
        if (collected === undefined || readBytes >= this.#maxBytesRead) continue;
        const part = chunk.subarray(0, this.#maxBytesRead - readBytes);
        readBytes += part.length;
        const more = Math.max(0, readBytes - uncountedBytes) - counted;
        if (this.#held + more > this.#maxHeldBytes) {
          collected = undefined;
          this.#held -= counted;
          counted = 0;
          continue;
        }
        counted += more;
        this.#held += more;
        collected.add(part);
      }
      if (collected === undefined) return undefined;
      return await use({ source: collected.take(), size, digest: hash.digest('base64url') });
    } finally {
      this.#held -= counted;
    }
  }
}
