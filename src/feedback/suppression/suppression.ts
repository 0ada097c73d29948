import type { ComparableAddress } from '../../foundation/email-address.ts';
import type { MessageId } from '../../foundation/ids.ts';

/** Why an address must not be written to. `unsubscribe` holds for non-transactional mail only. */
export const suppressionReasons = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const;

export type SuppressionReason = (typeof suppressionReasons)[number];

/** An entry to add. */
export interface NewSuppression {
  readonly address: ComparableAddress;
  readonly reason: SuppressionReason;
  /** The message that led to it. */
  readonly messageId?: MessageId | undefined;
  /** When it ends by itself; absent: never. */
  readonly expiresAt?: Date | undefined;
}

/** An entry as it is kept. */
export interface Suppression {
  readonly address: ComparableAddress;
  readonly reason: SuppressionReason;
  readonly messageId: MessageId | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/** The reason that `text` spells, or undefined. */
export function parseSuppressionReason(text: string): SuppressionReason | undefined {
  return suppressionReasons.find((reason) => reason === text);
}
