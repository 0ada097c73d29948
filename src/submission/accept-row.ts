import type { EmailAddress } from '../foundation/email-address.ts';
import type { AccountId, ClientId, MessageId, TemplateId } from '../foundation/ids.ts';
import type { IdempotencyKey } from './idempotency.ts';

/** A message as it is to be stored. */
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
  /** No message with the same template and names of values was stored lately, as far as is known. */
  readonly newUsage: boolean;
  readonly externalId: string | undefined;
  readonly tag: string | undefined;
  readonly clientId: ClientId;
  /** Seconds after which it is not delivered any more. */
  readonly lifetimeSeconds: number;
  /** To, then Cc. */
  readonly recipients: readonly EmailAddress[];
  /** Cc addresses that were left out, as they were suppressed. */
  readonly suppressed: readonly EmailAddress[];
  /** `MessageContent` as JSON. */
  readonly content: string;
  readonly key: IdempotencyKey | undefined;
}

/** What became of a row. */
export type AcceptOutcome =
  /** Committed and flushed. */
  | { readonly kind: 'accepted' }
  /** Nothing was stored, as these recipients are suppressed. */
  | { readonly kind: 'suppressed'; readonly addresses: readonly string[] }
  /** Nothing was stored, as its key is in use. */
  | { readonly kind: 'taken' }
  /** Nothing was stored, as somebody else held its key for too long. */
  | { readonly kind: 'busy' };

export const acceptedOutcome: AcceptOutcome = { kind: 'accepted' };
export const keyTakenOutcome: AcceptOutcome = { kind: 'taken' };
export const keyBusyOutcome: AcceptOutcome = { kind: 'busy' };
