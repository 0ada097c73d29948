/**
 * Keys of PostgreSQL's advisory locks, in one place so that no two are equal. Never change a key, because nodes of different
 * releases must agree on it. Only `session-lock.ts` and `transaction-lock.ts` use them.
 */
export const advisoryLocks = {
  /** Serializes migrations of nodes that start together. */
  migrations: 7_233_480_021,
  /** Serializes changes of settings: shared for one account, exclusive across accounts. Also seeds each account's lock. */
  settings: 7_233_480_022,
  /** Serializes the creation of message partitions. */
  messagePartitions: 7_233_480_023,
  /** Held during a backup of the embedded database, so that only one runs at a time. */
  backup: 7_233_480_024,
  /** Held in both databases while an installation is moved from one to the other. */
  move: 7_233_480_025,
  /** Seeds the lock of each budget, so that its uses are counted one after another. */
  budgets: 7_233_480_026,
  /** Seeds the lock of each follower, held during a window that its process recorded before it began it. */
  recordedWindows: 7_233_480_027,
  /** Seeds the lock of each webhook endpoint's log: shared by what changes its entries, exclusive for its removal. */
  webhookLogs: 7_233_480_028,
  /** Serializes the publication of system templates. */
  systemTemplates: 'signalpost system templates',
} as const;

export type AdvisoryLock = keyof typeof advisoryLocks;

/** What PostgreSQL needs to compute the key of a lock: a number, or a text whose hash is the key. */
export function lockKey(lock: AdvisoryLock): readonly [number | null, string | null] {
  const key = advisoryLocks[lock];
  return typeof key === 'number' ? [key, null] : [null, key];
}
