import type { ComparableAddress } from '../../base/values/email-address.ts';
import type { MessageId } from '../../base/values/ids.ts';

/** Why an address is suppressed. `unsubscribe` applies to non-transactional mail only. */
export const suppressionReasons = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const;

export type SuppressionReason = (typeof suppressionReasons)[number];

export interface NewSuppression {
  readonly address: ComparableAddress;
  readonly reason: SuppressionReason;
  /** The message that caused it. */
  readonly messageId?: MessageId | undefined;
  /** Expiry; absent: never. */
  readonly expiresAt?: Date | undefined;
}

/** A stored entry. */
export interface Suppression {
  readonly address: ComparableAddress;
  readonly reason: SuppressionReason;
  readonly messageId: MessageId | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/** Parses a reason; undefined if it is unknown. */
export function parseSuppressionReason(text: string): SuppressionReason | undefined {
  return suppressionReasons.find((reason) => reason === text);
}
