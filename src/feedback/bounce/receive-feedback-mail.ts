import { createHash } from 'node:crypto';
import { maxBytesRead } from './read-mime.ts';

/** A received mail, truncated to what is parsed. */
export interface ReceivedFeedback {
  readonly source: Buffer;
  /** SHA-256 of the whole mail, in base64url. */
  readonly digest: string;
}

/** Bytes of each mail that aren't counted against the limit; nearly all mails are shorter. */
const uncountedBytes = 64 * 1024;

/** Receives mail within a fixed memory limit, so that opening many slow connections can't exhaust memory. */
export class FeedbackMailReceiver {
  readonly #maxHeldBytes: number;
  #held = 0;

  /** @param maxHeldBytes limit for all mails together, beyond the first 64 KiB of each */
  constructor(maxHeldBytes = 32 * 1024 ** 2) {
    this.#maxHeldBytes = maxHeldBytes;
  }

  /** Bytes held now, beyond the first 64 KiB of each mail. */
  get held(): number {
    return this.#held;
  }

  /**
   * Reads a mail to its end.
   * @param use processes the mail, which counts as held until this is done
   * @returns the result of `use`; undefined if memory was full and the sender has to retry
   */
  async receive<Result>(
    stream: AsyncIterable<Buffer> | Iterable<Buffer>,
    use: (report: ReceivedFeedback) => Promise<Result>,
  ): Promise<Result | undefined> {
    const hash = createHash('sha256');
    let chunks: Buffer[] | undefined = [];
    let readBytes = 0;
    let counted = 0;
    try {
      for await (const chunk of stream) {
        hash.update(chunk);
        if (chunks === undefined || readBytes >= maxBytesRead) continue;
        const part = chunk.subarray(0, maxBytesRead - readBytes);
        readBytes += part.length;
        const more = Math.max(0, readBytes - uncountedBytes) - counted;
        if (this.#held + more > this.#maxHeldBytes) {
          chunks = undefined;
          this.#held -= counted;
          counted = 0;
          continue;
        }
        counted += more;
        this.#held += more;
        chunks.push(part);
      }
      if (chunks === undefined) return undefined;
      return await use({ source: Buffer.concat(chunks), digest: hash.digest('base64url') });
    } finally {
      this.#held -= counted;
    }
  }
}
