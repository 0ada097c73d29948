/**
 * Keys of PostgreSQL's advisory locks, all in one place: two that were the same would make strangers wait for each other.
 * Nodes that run together have the same keys, so a key never changes.
 */
export const advisoryLocks = {
  /** Nodes that start together migrate one after the other. */
  migrations: 7_233_480_021,
  /** Changes of settings: shared by a change of one account, taken alone by what reaches across accounts; seeds the lock of an account. */
  settings: 7_233_480_022,
  /** Nodes make partitions of messages one after the other. */
  messagePartitions: 7_233_480_023,
} as const;

/** Names of locks whose key is the hash of the name. */
export const namedAdvisoryLocks = {
  systemTemplates: 'signalpost system templates',
} as const;
