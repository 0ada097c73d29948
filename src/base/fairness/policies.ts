import type { Policy } from './limiter.ts';

const mebibyte = 1_024 * 1_024;

/** A line of the table in docs/reference/limits.md. */
export interface SharedResource extends Policy {
  readonly by: 'account' | 'network' | 'provider';
  readonly unit: 'slots' | 'bytes';
}

const slots = { unit: 'slots', by: 'account' } as const;
const bytes = { unit: 'bytes', by: 'account' } as const;
const threads = { ...slots, total: 2, share: 1, reserve: 1 } as const;
/** It waits as rows, which take turns. */
const inTurn = {
  wait: { callers: 1, perSharer: 1, ms: Number.POSITIVE_INFINITY },
} as const;
/** SMTP sessions and what they send. */
const overSmtp = { by: 'network', retryAfter: 60, evict: { afterMs: 10_000 } } as const;
/** While others wait for memory, what holds some must arrive at this rate. */
const arrivalPace = { afterMs: 5_000, slowerThan: 512 * 1_024 } as const;

/** Every shared resource of a process. Where memory is scarce, bytes shrink in proportion. */
export const policies = {
  // Strangers
  passwords: {
    what: 'passwords',
    ...slots,
    by: 'network',
    // More than two checks would starve the thread pool that everything else uses.
    total: 2,
    share: 1,
    reserve: 0,
    wait: { callers: 64, perSharer: 32, ms: Number.POSITIVE_INFINITY },
  },
  strangersBodies: {
    what: 'request bodies',
    ...bytes,
    by: 'network',
    total: 32 * mebibyte,
    share: 8 * mebibyte,
    reserve: 8 * mebibyte,
    evict: { afterMs: 2_000 },
  },
  unsentResponses: {
    what: 'unsent responses',
    ...bytes,
    by: 'network',
    total: 128 * mebibyte,
    share: 32 * mebibyte,
    reserve: 32 * mebibyte,
    evict: { afterMs: 5_000 },
  },
  imageResponses: {
    what: 'images',
    ...bytes,
    by: 'network',
    total: 64 * mebibyte,
    share: 8 * mebibyte,
    reserve: 16 * mebibyte,
    wait: { callers: 1_000, perSharer: 500, ms: 2_000 },
  },
  bounceSessions: {
    what: 'sessions of the bounce server',
    ...slots,
    ...overSmtp,
    total: 100,
    share: 10,
    reserve: 20,
  },
  receivedReports: {
    what: 'reports by email',
    ...bytes,
    ...overSmtp,
    total: 32 * mebibyte,
    share: 8 * mebibyte,
    reserve: 8 * mebibyte,
  },
  receivedReplies: {
    what: 'replies by email',
    ...bytes,
    ...overSmtp,
    total: 96 * mebibyte,
    share: 32 * mebibyte,
    reserve: 32 * mebibyte,
  },
  submissionSessions: {
    what: 'SMTP submission sessions',
    ...slots,
    ...overSmtp,
    total: 1_200,
    share: 100,
    reserve: 100,
  },
  providerRequests: {
    what: 'sign-ins',
    ...slots,
    by: 'provider',
    total: 64,
    share: 16,
    reserve: 16,
    wait: { callers: 64, perSharer: 16, ms: 5_000 },
    retryAfter: 5,
  },

  // Requests of accounts
  bodies: {
    what: 'request bodies',
    ...bytes,
    total: 128 * mebibyte,
    share: 64 * mebibyte,
    reserve: 32 * mebibyte,
    evict: { afterMs: 10_000 },
  },
  largeBodies: {
    what: 'large request bodies',
    ...bytes,
    total: 64 * mebibyte,
    share: 32 * mebibyte,
    reserve: 32 * mebibyte,
    wait: { callers: 10_000, perSharer: 10_000, ms: 30_000 },
    evict: arrivalPace,
  },
  submittedMessages: {
    what: 'messages over SMTP',
    ...bytes,
    total: 128 * mebibyte,
    share: 64 * mebibyte,
    reserve: 64 * mebibyte,
    wait: { callers: 1_000, perSharer: 1_000, ms: 10_000 },
    evict: arrivalPace,
  },
  submissionLogins: {
    what: 'SMTP sessions of your account',
    ...slots,
    // Fewer than sessions: those before a login, which can end for others, are left.
    total: 1_000,
    share: 50,
    reserve: 200,
    retryAfter: 60,
    evict: { afterMs: 10_000 },
  },
  batches: {
    what: 'batches',
    ...slots,
    total: 10,
    share: 6,
    reserve: 4,
    wait: { callers: 1_000, perSharer: 500, ms: 10_000 },
  },
  managementRequests: {
    what: 'requests',
    ...slots,
    total: 24,
    share: 8,
    reserve: 8,
    wait: { callers: 1_000, perSharer: 40, ms: Number.POSITIVE_INFINITY },
    evict: { afterMs: 10_000, slowerThan: 16 * 1_024 },
  },
  managementConnections: {
    what: 'requests',
    ...slots,
    total: 6,
    share: 2,
    reserve: 2,
    wait: { callers: 256, perSharer: 32, ms: 5_000 },
  },
  changes: {
    what: 'changes',
    ...slots,
    total: 4,
    share: 1,
    reserve: 1,
    wait: { callers: 128, perSharer: 16, ms: 5_000 },
  },
  imports: { what: 'imports', ...slots, total: 8, share: 1, reserve: 2, retryAfter: 30 },
  streams: {
    what: 'event streams and long polls',
    ...slots,
    total: 300,
    share: 50,
    reserve: 60,
    retryAfter: 5,
  },
  webhookTests: { what: 'test events', ...slots, total: 12, share: 2, reserve: 3, retryAfter: 5 },
  /** Leases of deliveries, which spend most of their time waiting for endpoints. */
  webhooks: { what: 'webhooks', ...slots, total: 24, share: 4, reserve: 6, ...inTurn },
  /** Accounts whose events are written to the logs of their endpoints. */
  webhookPieces: { what: 'webhooks', ...slots, total: 3, share: 1, reserve: 1, ...inTurn },
  attachmentWrites: {
    what: 'attachments',
    ...slots,
    total: 2,
    // More wouldn't be stored sooner, and small messages would wait for their commits.
    share: 1,
    reserve: 1,
    wait: { callers: 1_000, perSharer: 500, ms: 10_000 },
  },
  smallAttachmentWrites: {
    what: 'small attachments',
    ...slots,
    total: 128,
    share: 64,
    reserve: 32,
    wait: { callers: 1_000, perSharer: 500, ms: 10_000 },
  },
  imageReads: {
    what: 'images',
    ...slots,
    total: 2,
    share: 1,
    reserve: 1,
    wait: { callers: 200, perSharer: 50, ms: 5_000 },
    retryAfter: 2,
  },

  // Threads
  templateThreads: {
    what: 'templates',
    ...threads,
    wait: { callers: 64, perSharer: 4, ms: 30_000 },
    retryAfter: 5,
  },
  previewThreads: {
    what: 'previews',
    ...threads,
    // Several browsers of an account may each ask for six at a time.
    wait: { callers: 128, perSharer: 32, ms: 20_000 },
    retryAfter: 2,
  },
  mailThreads: {
    what: 'messages to read',
    ...threads,
    wait: { callers: 64, perSharer: 16, ms: 60_000 },
    retryAfter: 60,
  },
  replyThreads: {
    what: 'replies',
    ...threads,
    wait: { callers: 40, perSharer: 10, ms: 60_000 },
    retryAfter: 60,
  },

  // Mail
  sentAttachments: {
    what: 'attachments',
    ...bytes,
    total: 160 * mebibyte,
    share: 80 * mebibyte,
    reserve: 40 * mebibyte,
    wait: { callers: 10_000, perSharer: 10_000, ms: 2_000 },
  },
  replies: { what: 'replies', ...slots, total: 50, share: 20, reserve: 10, retryAfter: 60 },
  largeReplies: { what: 'replies', ...slots, total: 20, share: 2, reserve: 5, retryAfter: 60 },
} as const satisfies Readonly<Record<string, SharedResource>>;
