import type { EmailAddress } from '../foundation/email-address.ts';
import type { AccountId, MessageId } from '../foundation/ids.ts';

/** How a message presents itself to other servers: its signatures, return path and source addresses. */
export interface SendingIdentity {
  /** Puts signatures before the message; the same on every attempt, as long as the keys are the same. */
  sign(raw: Buffer, acceptedAt: Date): Buffer;
  /** Address for MAIL FROM. @param recipient the first one of the transaction */
  returnPath(messageId: MessageId, recipient: number): string;
  /** Names the source addresses to send from. */
  readonly pool?: string | undefined;
  /** Gives the message's share of a daily quota back, where no server was reached after all. */
  release?(): void;
}

/** Why mail must not leave now, and how long it waits before the next check. */
export interface IdentityProblem {
  readonly problem: string;
  readonly delayMs?: number;
}

/** The identity for a From address, or why mail from it must not leave now. */
export type FindIdentity = (
  accountId: AccountId,
  from: EmailAddress,
) => Promise<SendingIdentity | IdentityProblem>;
