import { extname } from 'node:path';
import type { DnsServer } from '../../base/dns/dns-server.ts';
import { memoryShare } from '../../base/fairness/memory-share.ts';
import { policies } from '../../base/fairness/policies.ts';
import { ThreadOverrun, ThreadPool } from '../../base/threads/thread-pool.ts';
import { Busy } from '../../base/values/errors.ts';
import { unauthenticated, unreadable } from './authenticate-reply.ts';
import { describeUnread, readReplyMail } from './parse-reply.ts';
import type { ParsedReply, ReplyAuthentication, ReplyOrigin } from './reply-content.ts';

/** The published package contains the same file as JavaScript. */
const threadFile = new URL(`./reply-thread${extname(import.meta.filename)}`, import.meta.url);

/** Processor time for checking one reply; the largest takes a second or two. */
const timeoutMs = 10_000;
/** Time for all DNS queries of a reply, and for a single one. */
const dnsTimeoutMs = 15_000;
const queryTimeoutMs = 2_500;
/** Megabytes; contents of attachments are outside of the heap. */
const heapMb = Math.round(512 * memoryShare());

/** Work for the thread: check who a reply is from. */
export interface ReplyJob {
  readonly source: Uint8Array;
  readonly origin: ReplyOrigin;
  readonly dnsServers: readonly DnsServer[];
  readonly hostname: string;
  readonly dnsTimeoutMs: number;
  readonly queryTimeoutMs: number;
}

/** A reply that was read. */
export interface ReadReply extends ParsedReply {
  readonly authentication: ReplyAuthentication;
}

export type ReplyReader = ReturnType<typeof createReplyReader>;

/**
 * Reads replies and checks who they are from, in threads with limits: strangers write them, so they must not block the event
 * loop, run forever or keep out the replies of other accounts.
 * @param hostname of this server, for SPF
 */
export function createReplyReader(dnsServers: readonly DnsServer[], hostname = 'localhost') {
  const threads = new ThreadPool<ReplyJob, ReplyAuthentication>({
    file: threadFile,
    timeout: timeoutMs,
    heap: heapMb,
    policy: policies.replyThreads,
  });
  /**
   * @param group the account whose message it replies to
   * @throws Busy if too many are waiting
   */
  return async (source: Buffer, origin: ReplyOrigin, group: string): Promise<ReadReply> => {
    const { envelopeFrom } = origin;
    const job = { source, origin, dnsServers, hostname, dnsTimeoutMs, queryTimeoutMs };
    const parsed = await orUnread(readReplyMail({ source, envelopeFrom }, { group }), () =>
      describeUnread(source, envelopeFrom),
    );
    const authentication = await orUnread(threads.run(job, group), (error) =>
      error instanceof ThreadOverrun ? unauthenticated : unreadable,
    );
    return { ...parsed, authentication };
  };
}

/** What to store of a reply that no code can read: refusing it would only bring it again. */
async function orUnread<Result>(
  reading: Promise<Result>,
  otherwise: (error: unknown) => Result,
): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Busy) throw error;
    return otherwise(error);
  }
}
