import { createHash } from 'node:crypto';
import { ByteCollector } from '../../base/fairness/byte-collector.ts';
import { Limiter, type Policy } from '../../base/fairness/limiter.ts';
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

/** Receives mail within a fixed amount of memory, which the networks of senders share fairly even if some send slowly. */
export class FeedbackMailReceiver {
  readonly #memory: Limiter;
  readonly #maxBytes: number;

  /**
   * @param policy of the memory for all mails together, beyond the first 64 KiB of each
   * @param share of that memory, from `memoryShare`
   * @param maxBytes of each mail that are kept
   */
  constructor(policy: Policy, share = 1, maxBytes = maxBytesRead) {
    // One mail of the max size always fits.
    const minShare = maxBytes / (policy.total - policy.reserve);
    this.#memory = new Limiter(policy, Math.max(share, minShare));
    this.#maxBytes = maxBytes;
  }

  /** Bytes held now, beyond the first 64 KiB of each mail. */
  get held(): number {
    return this.#memory.held;
  }

  /**
   * Reads a mail to its end.
   * @param networks of its sender
   * @param use processes the mail, which counts as held until this is done
   * @returns the result of `use`; undefined if memory was full and the sender must retry
   */
  async receive<Result>(
    stream: AsyncIterable<Buffer> | Iterable<Buffer>,
    networks: readonly string[],
    use: (report: ReceivedFeedback) => Promise<Result>,
  ): Promise<Result | undefined> {
    const hash = createHash('sha256');
    let collected: ByteCollector | undefined = new ByteCollector();
    let size = 0;
    let readBytes = 0;
    const evict = (): void => {
      collected = undefined;
    };
    const evictable = { progress: () => size, evict };
    const holding = this.#memory.tryAcquire(networks, { amount: 0, evictable });
    try {
      for await (const chunk of stream) {
        hash.update(chunk);
        size += chunk.length;
        if (collected === undefined || readBytes >= this.#maxBytes) continue;
        const part = chunk.subarray(0, this.#maxBytes - readBytes);
        readBytes += part.length;
        const more = Math.max(0, readBytes - uncountedBytes) - (holding?.amount ?? 0);
        if (more > 0 && holding?.grow(more) !== true) {
          evict();
          holding?.release();
          continue;
        }
        collected.add(part);
      }
      holding?.settle();
      if (collected === undefined) return undefined;
      return await use({ source: collected.take(), size, digest: hash.digest('base64url') });
    } finally {
      holding?.release();
    }
  }
}
