import { createHash } from 'node:crypto';
import { maxBytesRead } from './read-mime.ts';

/** A mail as far as it is looked at. */
export interface ReceivedFeedback {
  readonly source: Buffer;
  /** SHA-256 of the whole mail, in base64url. */
  readonly digest: string;
}

/** Bytes that are kept of every mail at once: nearly all reports are shorter. */
const uncountedBytes = 64 * 1024;

/**
 * Takes mails in without keeping more of them than is looked at, and of all together no more than a fixed amount: whoever
 * opens many connections and sends slowly cannot take the memory.
 */
export class FeedbackMailReceiver {
  readonly #maxHeldBytes: number;
  #held = 0;

  /** @param maxHeldBytes bytes held of all mails together, beside the first 64 KiB of each */
  constructor(maxHeldBytes = 32 * 1024 ** 2) {
    this.#maxHeldBytes = maxHeldBytes;
  }

  /** Bytes held now, beside the first 64 KiB of each mail. */
  get held(): number {
    return this.#held;
  }

  /**
   * Reads a mail to its end.
   * @param use what is made of it; until it is done the mail counts among what is held
   * @returns what `use` made of it; undefined where there was no room for it, and it has to come again
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
