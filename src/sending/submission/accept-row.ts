import type { EmailAddress } from '../../base/values/email-address.ts';
import type { AccountId, ClientId, MessageId, TemplateId } from '../../base/values/ids.ts';
import type { IdempotencyKey } from './idempotency.ts';
import type { StatusLink } from './status-link.ts';

/** When to start and stop trying to deliver a message. */
interface AcceptTiming {
  /** Undefined: at once. */
  readonly sendAt: Date | undefined;
  readonly deliverBefore: Date | undefined;
}

/** A message to store. */
export interface AcceptRow {
  readonly accountId: AccountId;
  readonly id: MessageId;
  readonly retentionDays: number;
  readonly templateId: TemplateId;
  readonly templateVersion: number;
  readonly transactional: boolean;
  readonly trackOpens: boolean;
  readonly trackClicks: boolean;
  readonly deliverWhenDelayed: boolean;
  /** True if no message with the same template and value names is known to have been stored recently. */
  readonly newUsage: boolean;
  readonly externalId: string | undefined;
  readonly tag: string | undefined;
  readonly clientId: ClientId;
  /** Seconds until delivery is abandoned. */
  readonly lifetimeSeconds: number;
  /** To, then Cc. */
  readonly recipients: readonly EmailAddress[];
  /** Cc addresses omitted because they are suppressed. */
  readonly suppressed: readonly EmailAddress[];
  /** `MessageContent` as JSON. */
  readonly content: string;
  readonly key: IdempotencyKey | undefined;
  /** Undefined: at once, and no deadline of its own. */
  readonly timing?: AcceptTiming | undefined;
  /** SHA-256 of the distinct contents of its attachments, one byte per character; already stored. */
  readonly attachments?: readonly string[] | undefined;
  /** Undefined: the response has no status link. */
  readonly status?: StatusLink | undefined;
  /** Messages to other recipients, stored with this one or not at all. Its key covers them all; they have no copies. */
  readonly copies?: readonly AcceptRow[] | undefined;
  /** A copy that is left out if its recipient is suppressed, as a Cc address of a template's message is. */
  readonly optional?: boolean;
}

/** The row and its copies. */
export function rowWithCopies(row: AcceptRow): readonly [AcceptRow, ...AcceptRow[]] {
  return row.copies === undefined ? [row] : [row, ...row.copies];
}

/** Counts recipients for the quota: every requested address, and the account's archive address. */
export function countRecipients(row: AcceptRow): number {
  return rowWithCopies(row).reduce((sum, { recipients }) => sum + recipients.length, 0);
}

export type AcceptOutcome =
  /** Committed and flushed. */
  | { readonly kind: 'accepted' }
  /** Nothing was stored because these recipients are suppressed. */
  | { readonly kind: 'suppressed'; readonly addresses: readonly string[] }
  /** Nothing was stored because its key is in use. */
  | { readonly kind: 'taken' }
  /** Nothing was stored because another request held its key for too long. */
  | { readonly kind: 'busy' };

export const acceptedOutcome: AcceptOutcome = { kind: 'accepted' };
export const keyTakenOutcome: AcceptOutcome = { kind: 'taken' };
export const keyBusyOutcome: AcceptOutcome = { kind: 'busy' };
