import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../foundation/clock.ts';
import type { CommitWith } from '../foundation/database/commit-with.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import { readSender } from './sender-store.ts';
import { saveSenderProof, spendSenderProof } from './verify-sender-store.ts';

/** What the mail with the link says. */
export interface SenderProofMail {
  readonly toAddress: string;
  readonly link: string;
  readonly expiresIn: string;
}

export interface SenderProofsParts {
  readonly database: Database;
  readonly clock: Clock;
  /** Undefined where no template is set for these mails. */
  readonly send: ((mail: SenderProofMail) => Promise<void>) | undefined;
  readonly publicUrl: () => string;
}

/** What became of a wish for a link. */
export type SenderProofRequest = 'sent' | 'unknown' | 'verified' | 'not-offered' | 'too-soon';

const tokenBytes = 32;
const hours = 24;
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

/** Sender addresses proven by a mailed link: who reads the mail of an address may let it be sent from. */
export class SenderProofs {
  readonly #parts: SenderProofsParts;

  constructor(parts: SenderProofsParts) {
    this.#parts = parts;
  }

  /**
   * Mails a link to a sender that is not verified; an earlier link of it ends.
   * @param commitWith what is committed with the link, before it is mailed
   */
  async request(
    accountId: AccountId,
    address: string,
    commitWith?: CommitWith,
  ): Promise<SenderProofRequest> {
    const { database, clock, send, publicUrl } = this.#parts;
    const sender = await readSender(database.kysely, accountId, address);
    if (sender === undefined) return 'unknown';
    if (sender.verified) return 'verified';
    if (send === undefined) return 'not-offered';
    const token = randomBytes(tokenBytes).toString('base64url');
    const expiresAt = new Date(clock.now() + hours * 3_600_000);
    const saved = await database.kysely.transaction().execute(async (transaction) => {
      const fresh = await saveSenderProof(
        transaction,
        accountId,
        address,
        hashOf(token),
        expiresAt,
      );
      if (fresh) await commitWith?.(transaction);
      return fresh;
    });
    if (!saved) return 'too-soon';
    const link = `${publicUrl()}/verify-sender/${token}`;
    await send({ toAddress: address, link, expiresIn: `${hours} hours` });
    return 'sent';
  }

  /** Spends a token. @returns the address that is verified now, or undefined */
  async spend(token: string): Promise<string | undefined> {
    if (!tokenPattern.test(token)) return undefined;
    const { database, clock } = this.#parts;
    const proven = await database.kysely
      .transaction()
      .execute((transaction) =>
        spendSenderProof(transaction, hashOf(token), new Date(clock.now())),
      );
    return proven?.address;
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
