import type { EmailAddress } from '../foundation/email-address.ts';
import type { AccountId, MessageId } from '../foundation/ids.ts';

/** How a message identifies itself to other servers: signatures, return path and source addresses. */
export interface SendingIdentity {
  /** Prepends signatures. The result is the same on every attempt as long as the keys don't change. */
  sign(raw: Buffer, acceptedAt: Date): Buffer;
  /**
   * Address for MAIL FROM.
   * @param recipient the first one of the transaction
   */
  returnPath(messageId: MessageId, recipient: number): string;
  /** The source address pool. */
  readonly pool?: string | undefined;
  /** Returns recipients to the daily limit for whom no server was reached. */
  release?(recipients: number): void;
}

/** Why mail can't be sent now, and how long to wait before rechecking. */
export interface IdentityProblem {
  readonly problem: string;
  readonly delayMs?: number;
}

/**
 * Finds the identity for a From address, or why its mail can't be sent now.
 * @param recipients of the attempt
 */
export type FindIdentity = (
  accountId: AccountId,
  from: EmailAddress,
  recipients: number,
) => Promise<SendingIdentity | IdentityProblem>;
