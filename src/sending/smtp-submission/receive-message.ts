import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SMTPServerDataStream } from 'smtp-server';
import { ByteCollector } from '../../base/fairness/byte-collector.ts';
import { type Holding, Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import { Busy } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { SubmissionRefusal } from './submission-replies.ts';

/** A message's pieces and the whole are in memory at the same time. */
const copies = 2;
/** Bytes to reserve next for a message of unknown size. */
const stepBytes = 256 * 1_024;

export interface MessageLimits {
  readonly accountId: AccountId;
  readonly maxBytes: number;
  /** From the SIZE parameter (RFC 1870); 0: unknown. */
  readonly announcedBytes: number;
}

/** Receives messages within a fixed amount of memory, which accounts share fairly even if some send slowly. */
export class MessageReceiver {
  readonly #memory: Limiter;

  /** @param share of the memory, from `memoryShare` */
  constructor(share = 1) {
    this.#memory = new Limiter(policies.submittedMessages, share);
  }

  /**
   * Reads a message to its end, even if it is refused.
   * @param use processes it; its memory counts until then
   * @throws SubmissionRefusal if it is too large, there is no memory for it, or it has a bare CR or a NUL
   */
  async receive<Result>(
    stream: SMTPServerDataStream,
    { accountId, maxBytes, announcedBytes }: MessageLimits,
    use: (message: Buffer) => Promise<Result>,
  ): Promise<Result> {
    const holdings: Holding[] = [];
    let isWaiting = false;
    const evictable = {
      // A message that waits for memory isn't read.
      progress: () => (isWaiting ? Number.POSITIVE_INFINITY : received),
      evict: () => refuse(new SubmissionRefusal('noMemory')),
    };
    const reserve = async (bytes: number): Promise<boolean> => {
      try {
        isWaiting = true;
        holdings.push(await this.#memory.acquire(accountId, { amount: bytes * copies, evictable }));
        return true;
      } catch (error) {
        if (error instanceof Busy) return false;
        throw error;
      } finally {
        isWaiting = false;
      }
    };
    const releaseAll = (): void => {
      for (const { release } of holdings.splice(0)) release();
    };
    const lines = new LineBreakNormalizer();
    const collected = new ByteCollector();
    let reserved = 0;
    let received = 0;
    let refusal: SubmissionRefusal | undefined;
    const refuse = (reason: SubmissionRefusal): void => {
      refusal = reason;
      collected.clear();
      releaseAll();
    };
    try {
      for await (const sent of stream as AsyncIterable<Buffer>) {
        if (refusal !== undefined) continue;
        const chunk = lines.add(sent);
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
          if (!(await reserve(step))) {
            refuse(new SubmissionRefusal('noMemory'));
            continue;
          }
        }
        collected.add(chunk);
      }
      for (const holding of holdings) holding.settle();
      if (refusal !== undefined) throw refusal;
      if (lines.isRefused) throw new SubmissionRefusal('bareReturn');
      return await use(collected.take());
    } finally {
      releaseAll();
    }
  }
}

/** The refusal of a message over the limit. */
export function tooLarge(maxBytes: number): SubmissionRefusal {
  return new SubmissionRefusal('messageTooLarge', `the limit is ${maxBytes} bytes`);
}

/** Bytes per turn of the event loop. */
const turnBytes = 512 * 1_024;

/**
 * Makes every line of a message that is in memory end in CRLF, in pieces with other work between them.
 * @returns undefined if it has a bare CR or a NUL
 */
export async function normalizeLineBreaks(message: Buffer): Promise<Buffer | undefined> {
  const lines = new LineBreakNormalizer();
  const pieces: Buffer[] = [];
  for (let start = 0; start < message.length; start += turnBytes) {
    if (start > 0) await nextTurn();
    pieces.push(lines.add(message.subarray(start, start + turnBytes)));
  }
  return lines.isRefused ? undefined : Buffer.concat(pieces);
}

const carriageReturn = 13;
const lineFeed = 10;

/**
 * Makes every line of a submitted message end in CRLF. Programs send files and texts with LF, and a submission server
 * may fix that (RFC 6409 section 8). This is safe, because only CRLF.CRLF ends the message. A bare CR (RFC 5321 section
 * 2.3.8) and NUL are refused, because they are ambiguous.
 */
class LineBreakNormalizer {
  #isRefused = false;
  #endsInReturn = false;

  /** True once the message has a bare CR or a NUL. */
  get isRefused(): boolean {
    return this.#isRefused || this.#endsInReturn;
  }

  /** Returns the next piece of the message with CRLF in place of bare line feeds. */
  add(chunk: Buffer): Buffer {
    if (this.#isRefused || chunk.length === 0) return chunk;
    const afterReturn = this.#endsInReturn;
    this.#isRefused =
      (afterReturn && chunk[0] !== lineFeed) || chunk.includes(0) || hasBareReturn(chunk);
    this.#endsInReturn = chunk.at(-1) === carriageReturn;
    if (this.#isRefused || !hasBareFeed(chunk, afterReturn)) return chunk;
    const bareFeeds = afterReturn ? /(?<=[^\r])\n/g : /(?<!\r)\n/g;
    return Buffer.from(chunk.toString('latin1').replace(bareFeeds, '\r\n'), 'latin1');
  }
}

function hasBareFeed(chunk: Buffer, afterReturn: boolean): boolean {
  for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, at + 1)) {
    if (at === 0 ? !afterReturn : chunk[at - 1] !== carriageReturn) return true;
  }
  return false;
}

/** The next call checks the last byte. */
function hasBareReturn(chunk: Buffer): boolean {
  const last = chunk.length - 1;
  for (
    let at = chunk.indexOf(carriageReturn);
    at !== -1 && at < last;
    at = chunk.indexOf(carriageReturn, at + 1)
  ) {
    if (chunk[at + 1] !== lineFeed) return true;
  }
  return false;
}
