import { createHash } from 'node:crypto';
import type { Clock } from '../foundation/clock.ts';
import type { CommitWith } from '../foundation/database/commit-with.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { type AccountId, newId, type PersonId } from '../foundation/ids.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { MailedLinks } from '../outbox/mailed-links.ts';
import { enqueueSystemMail } from '../outbox/system-mail-store.ts';
import { readSender } from './sender-store.ts';
import {
  completeSenderVerification,
  readSenderVerification,
  type SenderVerificationDetails,
  saveSenderVerification,
} from './sender-verification-store.ts';

export interface SenderVerificationDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly key: MasterKey;
  /** False: there is no mail of the service itself. */
  readonly mailEnabled: boolean;
}

/** What became of a wish for a link. */
export type SenderVerificationRequestResult =
  | 'sent'
  | 'unknown'
  | 'verified'
  | 'not-offered'
  | 'too-soon';

const linkHours = 24;
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

/** Sender addresses proven by a mailed link: who reads the mail of an address may let it be sent from. */
export class SenderVerification {
  readonly #dependencies: SenderVerificationDependencies;
  readonly #links: MailedLinks;

  constructor(dependencies: SenderVerificationDependencies) {
    this.#dependencies = dependencies;
    this.#links = new MailedLinks(dependencies.key);
  }

  /**
   * Mails a link to a sender that is not verified; an earlier link of it ends.
   * @param askedBy who the page and the mail name; undefined: a machine
   * @param commitWith what is committed with the link and its mail
   */
  async request(
    accountId: AccountId,
    address: string,
    askedBy: PersonId | undefined,
    commitWith?: CommitWith,
  ): Promise<SenderVerificationRequestResult> {
    const { database, clock, mailEnabled } = this.#dependencies;
    const sender = await readSender(database.kysely, accountId, address);
    if (sender === undefined) return 'unknown';
    if (sender.verified) return 'verified';
    if (!mailEnabled) return 'not-offered';
    const id = newId();
    const hash = hashOf(this.#links.token(id));
    const expiresAt = new Date(clock.now() + linkHours * 3_600_000);
    const saved = await database.kysely.transaction().execute(async (transaction) => {
      const isNew = await saveSenderVerification(
        transaction,
        accountId,
        address,
        hash,
        expiresAt,
        askedBy,
      );
      if (!isNew) return false;
      await commitWith?.(transaction);
      await this.#mail(transaction, id, hash, askedBy);
      return true;
    });
    return saved ? 'sent' : 'too-soon';
  }

  async #mail(
    transaction: Database['kysely'],
    id: string,
    hash: Buffer,
    askedBy: PersonId | undefined,
  ): Promise<void> {
    const facts = await readSenderVerification(
      transaction,
      hash,
      new Date(this.#dependencies.clock.now()),
    );
    if (facts === undefined) throw new Error('a link of a sender is not there');
    await enqueueSystemMail(transaction, {
      id,
      kind: 'sender-confirmation',
      toAddress: facts.address,
      // In the language of who asked, as the reader may have no sign-in.
      personId: askedBy,
      facts: {
        account: facts.accountName,
        accountId: facts.accountId,
        askedBy: facts.askedBy ?? '',
      },
    });
  }

  /** What a link confirms; undefined where it is unknown, spent or too old. Changes nothing. */
  async find(token: string): Promise<SenderVerificationDetails | undefined> {
    if (!tokenPattern.test(token)) return undefined;
    const { database, clock } = this.#dependencies;
    return readSenderVerification(database.kysely, hashOf(token), new Date(clock.now()));
  }

  /** Spends a token. @returns the address that is verified now, or undefined */
  async confirm(token: string): Promise<string | undefined> {
    if (!tokenPattern.test(token)) return undefined;
    const { database, clock } = this.#dependencies;
    const confirmed = await database.kysely
      .transaction()
      .execute((transaction) =>
        completeSenderVerification(transaction, hashOf(token), new Date(clock.now())),
      );
    return confirmed?.address;
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
