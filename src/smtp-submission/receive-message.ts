import type { SMTPServerDataStream } from 'smtp-server';
import type { AccountId } from '../foundation/ids.ts';
import { PacedBytes, paceCheckMs } from '../foundation/paced-bytes.ts';
import { BareBreakFinder } from './find-bare-breaks.ts';
import { SubmissionRefusal } from './submission-replies.ts';

const mebibyte = 1_024 * 1_024;
/** Max bytes of messages that are received or checked, where memory isn't scarce. */
const budget = { total: 128 * mebibyte, perGroup: 64 * mebibyte };
/** The pieces of a message and the whole are in memory at the same time. */
const copies = 2;
/** Bytes to reserve next for a message of unknown size. */
const stepBytes = 256 * 1_024;
/** A client may wait for minutes, but others can't use the memory that it holds. */
const maxWaitMs = 10_000;

export interface MessageLimits {
  readonly accountId: AccountId;
  readonly maxBytes: number;
  /** From the SIZE parameter (RFC 1870); 0: unknown. */
  readonly announcedBytes: number;
}

/** Receives messages within a fixed amount of memory, which accounts share fairly even if some send slowly. */
export class MessageReceiver {
  readonly #memory: PacedBytes;

  /** @param share of the memory, from `memoryShare` */
  constructor(share = 1) {
    this.#memory = new PacedBytes({
      total: budget.total * share,
      perGroup: budget.perGroup * share,
    });
  }

  /**
   * Reads a message to its end, even if it is refused.
   * @param use gets it; its memory counts until this is done
   * @throws SubmissionRefusal if it is too large, there is no memory for it, or its line breaks are ambiguous
   */
  async receive<Result>(
    stream: SMTPServerDataStream,
    { accountId, maxBytes, announcedBytes }: MessageLimits,
    use: (message: Buffer) => Promise<Result>,
  ): Promise<Result> {
    const releases: (() => void)[] = [];
    const reserve = async (bytes: number): Promise<boolean> => {
      const release = await this.#memory.acquire(accountId, bytes * copies, maxWaitMs);
      if (release !== undefined) releases.push(release);
      return release !== undefined;
    };
    const releaseAll = (): void => {
      for (const release of releases.splice(0)) release();
    };
    const breaks = new BareBreakFinder();
    const chunks: Buffer[] = [];
    let reserved = 0;
    let received = 0;
    let refusal: SubmissionRefusal | undefined;
    const refuse = (reason: SubmissionRefusal): void => {
      refusal = reason;
      chunks.length = 0;
      releaseAll();
    };
    const isLate = this.#memory.startPace(accountId, () => reserved * copies);
    let isWaiting = false;
    const paceCheck = setInterval(() => {
      if (releases.length > 0 && !isWaiting && isLate(received))
        refuse(new SubmissionRefusal('noMemory'));
    }, paceCheckMs);
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        if (refusal !== undefined) continue;
        received += chunk.length;
        if (received > maxBytes) {
          refuse(tooLarge(maxBytes));
          continue;
        }
        if (received > reserved) {
          const step = Math.max(
            Math.min(announcedBytes, maxBytes) - reserved,
            Math.min(reserved === 0 ? chunk.length * 2 : stepBytes, maxBytes),
            received - reserved,
          );
          reserved += step;
          isWaiting = true;
          const isReserved = await reserve(step);
          isWaiting = false;
          if (!isReserved) {
            refuse(new SubmissionRefusal('noMemory'));
            continue;
          }
        }
        breaks.add(chunk);
        chunks.push(chunk);
      }
      clearInterval(paceCheck);
      if (refusal !== undefined) throw refusal;
      if (breaks.found) throw new SubmissionRefusal('bareLineBreak');
      return await use(Buffer.concat(chunks.splice(0), received));
    } finally {
      clearInterval(paceCheck);
      releaseAll();
    }
  }
}

/** The refusal of a message over the limit. */
export function tooLarge(maxBytes: number): SubmissionRefusal {
  return new SubmissionRefusal('messageTooLarge', `the limit is ${maxBytes} bytes`);
}
