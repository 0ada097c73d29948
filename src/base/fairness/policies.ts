import type { Policy } from './limiter.ts';

const mebibyte = 1_024 * 1_024;

/** A line of the table in docs/reference/limits.md. */
export interface SharedResource extends Policy {
  readonly by: 'account' | 'network' | 'provider';
  readonly unit: 'slots' | 'bytes';
}

/** The total, what one sharer gets at least, and what sharers with more leave free. */
type Amounts = readonly [total: number, share: number, reserve: number];

/** What differs from the usual: accounts share it, and those that can't start are refused for a second. */
type Rules = Partial<Pick<SharedResource, 'by' | 'wait' | 'retryAfter' | 'evict'>>;

function slots(what: string, [total, share, reserve]: Amounts, rules: Rules = {}): SharedResource {
  return { what, unit: 'slots', by: 'account', total, share, reserve, ...rules };
}

/** Memory, with its amounts in MiB. */
function memory(what: string, [total, share, reserve]: Amounts, rules: Rules): SharedResource {
  const bytes = { total: total * mebibyte, share: share * mebibyte, reserve: reserve * mebibyte };
  return { what, unit: 'bytes', by: 'account', ...bytes, ...rules };
}

/** Threads of a pool: two, of which an account has one. */
function threads(what: string, wait: Policy['wait'], retryAfter: number): SharedResource {
  return slots(what, [2, 1, 1], { wait, retryAfter });
}

/** How many callers wait, in total and per sharer, and for how long; by default, as long as it takes. */
function waiting(
  callers: number,
  perSharer: number,
  ms = Number.POSITIVE_INFINITY,
): NonNullable<Policy['wait']> {
  return { callers, perSharer, ms };
}

/** It waits as rows, which take turns. */
const inTurn = waiting(1, 1);

/** SMTP sessions and what they send. */
const overSmtp = { by: 'network', retryAfter: 60, evict: { afterMs: 10_000 } } as const;

/** While others wait for memory, what holds some must arrive at this rate. */
const arrivalPace = { afterMs: 5_000, slowerThan: 512 * 1_024 } as const;

/** Every shared resource of a process. Where memory is scarce, bytes shrink in proportion. */
export const policies = {
  // Strangers
  // More than two checks would starve the thread pool that everything else uses.
  passwords: slots('passwords', [2, 1, 0], { by: 'network', wait: waiting(64, 32) }),
  strangersBodies: memory('request bodies', [32, 8, 8], {
    by: 'network',
    evict: { afterMs: 2_000 },
  }),
  unsentResponses: memory('unsent responses', [128, 32, 32], {
    by: 'network',
    evict: { afterMs: 5_000 },
  }),
  imageResponses: memory('images', [64, 8, 16], {
    by: 'network',
    wait: waiting(1_000, 500, 2_000),
  }),
  bounceSessions: slots('sessions of the bounce server', [100, 10, 20], overSmtp),
  receivedReports: memory('reports by email', [32, 8, 8], overSmtp),
  receivedReplies: memory('replies by email', [96, 32, 32], overSmtp),
  submissionSessions: slots('SMTP submission sessions', [1_200, 100, 100], overSmtp),
  providerRequests: slots('sign-ins', [64, 16, 16], {
    by: 'provider',
    wait: waiting(64, 16, 5_000),
    retryAfter: 5,
  }),
  statusStreams: slots('status streams', [10_000, 100, 2_000], { by: 'network', retryAfter: 5 }),
  // Requests of accounts
  bodies: memory('request bodies', [128, 64, 32], { evict: { afterMs: 10_000 } }),
  largeBodies: memory('large request bodies', [64, 32, 32], {
    wait: waiting(10_000, 10_000, 30_000),
    evict: arrivalPace,
  }),
  submittedMessages: memory('messages over SMTP', [128, 64, 64], {
    wait: waiting(1_000, 1_000, 10_000),
    evict: arrivalPace,
  }),
  composedMessages: memory('messages with attachments', [64, 32, 32], {
    wait: waiting(1_000, 500, 10_000),
  }),
  // Fewer than sessions: those before a login, which can end for others, are left.
  submissionLogins: slots('SMTP sessions of your account', [1_000, 50, 200], {
    retryAfter: 60,
    evict: { afterMs: 10_000 },
  }),
  // They take turns in the threads for mail; a burst of an account waits instead of being refused.
  personalizedMessages: slots('personalized messages', [200, 100, 50], {
    wait: waiting(2_000, 500, 10_000),
    retryAfter: 5,
  }),
  batches: slots('batches', [10, 6, 4], { wait: waiting(1_000, 500, 10_000) }),
  managementRequests: slots('requests', [24, 8, 8], {
    wait: waiting(1_000, 40),
    evict: { afterMs: 10_000, slowerThan: 16 * 1_024 },
  }),
  managementConnections: slots('requests', [6, 2, 2], { wait: waiting(256, 32, 5_000) }),
  providerCalls: slots('requests', [6, 2, 2], { wait: waiting(256, 32, 5_000) }),
  changes: slots('changes', [4, 1, 1], { wait: waiting(128, 16, 5_000) }),
  imports: slots('imports', [8, 1, 2], { retryAfter: 30 }),
  streams: slots('event streams and long polls', [300, 50, 60], { retryAfter: 5 }),
  webhookTests: slots('test events', [12, 2, 3], { retryAfter: 5 }),
  /** Leases of deliveries, which spend most of their time waiting for endpoints. */
  webhooks: slots('webhooks', [24, 4, 6], { wait: inTurn }),
  // Fewer than batches, because a page of rows may wait for a commit like one of their chunks.
  outboxPages: slots('outbox pages', [4, 2, 1], { wait: inTurn }),
  /** Accounts whose events are written to the logs of their endpoints. */
  webhookPieces: slots('webhooks', [3, 1, 1], { wait: inTurn }),
  // More wouldn't be stored sooner, and small messages would wait for their commits.
  attachmentWrites: slots('attachments', [2, 1, 1], { wait: waiting(1_000, 500, 10_000) }),
  smallAttachmentWrites: slots('small attachments', [128, 64, 32], {
    wait: waiting(1_000, 500, 10_000),
  }),
  imageReads: slots('images', [2, 1, 1], { wait: waiting(200, 50, 5_000), retryAfter: 2 }),
  // Threads
  templateThreads: threads('templates', waiting(64, 4, 30_000), 5),
  // Several browsers of an account may each ask for six at a time.
  previewThreads: threads('previews', waiting(128, 32, 20_000), 2),
  mailThreads: threads('messages to read', waiting(64, 16, 60_000), 60),
  replyThreads: threads('replies', waiting(40, 10, 60_000), 60),
  // Mail
  sentAttachments: memory('attachments', [160, 80, 40], { wait: waiting(10_000, 10_000, 2_000) }),
  replies: slots('replies', [50, 20, 10], { retryAfter: 60 }),
  largeReplies: slots('replies', [20, 2, 5], { retryAfter: 60 }),
};
