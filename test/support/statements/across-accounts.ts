/** Why a file may have statements on the data of several accounts. */
export interface AcrossAccounts {
  /** How many, fragments included, so that another one has to be declared too. */
  readonly statements: number;
  readonly why: string;
}

const batch =
  'each row of a batch has its account, and the rows of a database are written together';
const cached =
  'reads of several accounts that are cached share a statement, and each row has its account';
const feed = 'follows what a database commits, in commit order';
const aged = 'deletes by age in all accounts of a database';

/**
 * The files on the way of a message with statements that don't name a single account. With several databases, each of them
 * runs once per database, on the accounts that it has.
 */
export const acrossAccounts: Readonly<Record<string, AcrossAccounts>> = {
  'sending/delivery/due-message-store.ts': { statements: 1, why: batch },
  'sending/delivery/shaping/shaping-store.ts': {
    statements: 2,
    why: 'what is learned about a destination holds for all accounts of a database',
  },
  'outcomes/bounce/feedback-event-store.ts': { statements: 1, why: batch },
  'outcomes/bounce/traced-message-store.ts': {
    statements: 1,
    why: 'a relay’s report names only the message, so the account is looked up in each database',
  },
  'outcomes/feed/feed-cursor-store.ts': { statements: 2, why: feed },
  'outcomes/feed/feed-window-store.ts': { statements: 2, why: feed },
  'outcomes/feed/transaction-map-store.ts': { statements: 1, why: feed },
  'outcomes/feed/message-log-store.ts': { statements: 1, why: feed },
  'outcomes/retention/delete-old-store.ts': { statements: 7, why: aged },
  'outcomes/retention/drop-partitions-store.ts': { statements: 2, why: aged },
  'outcomes/retention/erase-parts-store.ts': {
    statements: 1,
    why: 'its fragments take the account of the messages in the statement',
  },
  'outcomes/retention/retention-store.ts': {
    statements: 3,
    why: 'lists the accounts with rules; its fragments are in statements that name the account',
  },
  'outcomes/relay/relay-delivery-store.ts': {
    statements: 2,
    why: 'a relay’s report names no account, so deliveries are looked up in each database',
  },
  'outcomes/reply/reply-store.ts': {
    statements: 1,
    why: 'a reply address has only a tag of its account, so the account is looked up in each database',
  },
  'outcomes/bounce/suppress-bounced-store.ts': { statements: 1, why: feed },
  'outcomes/report/template-usage-store.ts': { statements: 2, why: `${feed}; ${aged}` },
  'outcomes/tracking/engagement-store.ts': { statements: 1, why: batch },
  'content/hosted-image/hosted-image-store.ts': { statements: 1, why: cached },
  'operating/management/import/import-store.ts': { statements: 1, why: aged },
  'operating/manifest/read-manifest-store.ts': {
    statements: 1,
    why: 'lists the accounts to export',
  },
  'content/message/attachment-store.ts': { statements: 1, why: batch },
  'content/message/message-partitions-store.ts': {
    statements: 2,
    why: 'a database has partitions for the retention classes of its accounts',
  },
  'content/message/message-sql.ts': {
    statements: 1,
    why: 'the accounts that a report may be about; a fragment of statements that are listed here',
  },
  'sending/queue/claim-store.ts': {
    statements: 4,
    why: 'finds the accounts that have due messages, and claims those of several at once; a clock that was wrong concerns the whole queue',
  },
  'sending/queue/lease-store.ts': { statements: 4, why: batch },
  'sending/queue/orphaned-lease-store.ts': {
    statements: 1,
    why: 'a restored database has no workers',
  },
  'sending/queue/queue-size-store.ts': { statements: 1, why: 'measures the queue of a database' },
  'sending/queue/restored-queue-store.ts': {
    statements: 3,
    why: 'what a restored database may have sent already concerns its whole queue',
  },
  'outcomes/report/find-messages-store.ts': {
    statements: 1,
    why: 'the account is the first of the conditions that its caller puts together',
  },
  'outcomes/report/order-rows-store.ts': {
    statements: 1,
    why: 'finds the accounts whose rows are rewritten',
  },
  'outcomes/report/roll-up-store.ts': { statements: 6, why: feed },
  'outcomes/report/search-rows-store.ts': { statements: 2, why: feed },
  'outcomes/report/read-subjects-store.ts': { statements: 1, why: batch },
  'outcomes/report/subject-words-store.ts': { statements: 3, why: feed },
  'accounts/sender/sender-store.ts': { statements: 1, why: cached },
  'accounts/sender/sender-verification-store.ts': {
    statements: 2,
    why: 'a link names only its secret, so the account is looked up in each database',
  },
  'accounts/sender/sending-domain-store.ts': {
    statements: 3,
    why: 'finds the domains to check next, counts them, and looks up which account has a domain',
  },
  'sending/submission/accept-statement-store.ts': { statements: 7, why: batch },
  'sending/submission/idempotency-key-store.ts': { statements: 1, why: aged },
  'content/template/template-store.ts': { statements: 3, why: `${batch}; ${cached}` },
  'content/template/variant-store.ts': { statements: 1, why: cached },
  'outcomes/webhook/account-event-store.ts': { statements: 2, why: feed },
  'outcomes/webhook/delivery-store.ts': { statements: 1, why: aged },
  'outcomes/webhook/fan-out-store.ts': { statements: 2, why: 'finds the accounts that have work' },
};
