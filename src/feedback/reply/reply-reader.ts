import { extname } from 'node:path';
import type { DnsServer } from '../../foundation/dns/dns-server.ts';
import { memoryShare } from '../../foundation/memory-share.ts';
import { ThreadOverrun, ThreadPool } from '../../foundation/thread-pool.ts';
import { unauthenticated } from './authenticate-reply.ts';
import { describeUnparsed } from './parse-reply.ts';
import type { ParsedReply, ReplyAuthentication, ReplyOrigin } from './reply-content.ts';

/** The published package contains the same file as JavaScript. */
const threadFile = new URL(`./reply-thread${extname(import.meta.filename)}`, import.meta.url);

/** Processor time for parsing or checking one reply; the largest takes a second or two. */
const timeoutMs = 10_000;
/** Time for all DNS queries of a reply, and for a single one. */
const dnsTimeoutMs = 15_000;
const queryTimeoutMs = 2_500;
/** Megabytes; contents of attachments are outside of the heap. */
const heapMb = Math.round(512 * memoryShare());

interface SourceJob {
  readonly source: Uint8Array;
  readonly origin: ReplyOrigin;
}

/** Work for the thread: parse a reply, or check who it is from. */
export type ReplyJob =
  | (SourceJob & { readonly kind: 'parse' })
  | (SourceJob & {
      readonly kind: 'authenticate';
      readonly dnsServers: readonly DnsServer[];
      readonly hostname: string;
      readonly dnsTimeoutMs: number;
      readonly queryTimeoutMs: number;
    });

export interface ReplyReaderOptions {
  readonly dnsServers: readonly DnsServer[];
  /** Of this server, for SPF. */
  readonly hostname: string | undefined;
}

/** A reply that was read. */
export interface ReadReply extends ParsedReply {
  readonly authentication: ReplyAuthentication;
}

/**
 * Parses replies and checks who they are from, in threads with limits: strangers write them, so they must not block the event
 * loop, run forever or keep out the replies of other accounts.
 */
export class ReplyReader {
  readonly #options: ReplyReaderOptions;
  readonly #threads: ThreadPool<ReplyJob, ParsedReply | ReplyAuthentication>;

  constructor(options: ReplyReaderOptions) {
    this.#options = options;
    this.#threads = new ThreadPool({
      file: threadFile,
      timeout: timeoutMs,
      heap: heapMb,
      slotLimits: {
        what: 'replies',
        slots: 2,
        slotsPerGroup: 1,
        waiting: 40,
        waitingPerGroup: 10,
        timeout: 60_000,
        retryAfter: 60,
      },
    });
  }

  /**
   * @param group the account whose message it replies to
   * @throws Busy if too many are waiting
   */
  async read(source: Buffer, origin: ReplyOrigin, group: string): Promise<ReadReply> {
    const parsed = await this.#run<ParsedReply>({ kind: 'parse', source, origin }, group, () =>
      describeUnparsed(source, origin.envelopeFrom),
    );
    const { dnsServers, hostname = 'localhost' } = this.#options;
    const authentication = await this.#run<ReplyAuthentication>(
      { kind: 'authenticate', source, origin, dnsServers, hostname, dnsTimeoutMs, queryTimeoutMs },
      group,
      () => unauthenticated,
    );
    return { ...parsed, authentication };
  }

  /** @param otherwise the result of a job that takes too much time or memory */
  async #run<Result extends ParsedReply | ReplyAuthentication>(
    job: ReplyJob,
    group: string,
    otherwise: () => Result,
  ): Promise<Result> {
    try {
      return (await this.#threads.run(job, group)) as Result;
    } catch (error) {
      if (error instanceof ThreadOverrun) return otherwise();
      throw error;
    }
  }
}
