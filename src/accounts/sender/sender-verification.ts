import { createHash } from 'node:crypto';
import type { CommitWith } from '../../base/database/commit-with.ts';
import type { Database, Kysely } from '../../base/database/open-database.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { Clock } from '../../base/values/clock.ts';
import { type AccountId, newId, type PersonId } from '../../base/values/ids.ts';
import { lockActiveAccount } from '../account/account-store.ts';
import { readPerson } from '../account/person-store.ts';
import { type RequestOrigin, recordAuditEvent } from '../audit/audit-store.ts';
import { mailedLinkToken } from '../notices/mailed-links.ts';
import { enqueueAccountLink } from '../notices/system-mail-store.ts';
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
  /** False if system mail isn't configured. */
  readonly mailEnabled: boolean;
}

/** The outcome of a link request. */
export type SenderVerificationRequestResult =
  | 'sent'
  | 'unknown'
  | 'verified'
  | 'not-offered'
  | 'too-soon';

const linkHours = 24;
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

/** Verifies senders with an emailed link: anyone who can read mail to an address can approve sending from it. */
export class SenderVerification {
  readonly #dependencies: SenderVerificationDependencies;

  constructor(dependencies: SenderVerificationDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Emails a link to an unverified sender and invalidates any earlier link.
   * @param askedBy the requester shown in the mail and on the page; undefined for an API key
   * @param commitWith committed together with the link and its mail
   * @throws BudgetUsedUp if the account or the address had too many links
   */
  async request(
    accountId: AccountId,
    address: string,
    askedBy: PersonId | undefined,
    commitWith?: CommitWith,
  ): Promise<SenderVerificationRequestResult> {
    const { database, clock, key, mailEnabled } = this.#dependencies;
    const sender = await readSender(database.kysely, accountId, address);
    if (sender === undefined) return 'unknown';
    if (sender.verified) return 'verified';
    if (!mailEnabled) return 'not-offered';
    const id = newId();
    const hash = hashOf(mailedLinkToken(key, id));
    const expiresAt = new Date(clock.now() + linkHours * 3_600_000);
    const saved = await database.kysely.transaction().execute(async (transaction) => {
      const link = [accountId, address, hash, expiresAt, askedBy] as const;
      if (!(await saveSenderVerification(transaction, ...link))) return false;
      await commitWith?.(transaction);
      const requester = askedBy && (await readPerson(transaction, askedBy));
      await enqueueAccountLink(transaction, {
        id,
        kind: 'sender-confirmation',
        accountId,
        toAddress: address,
        // In the requester's language, because the recipient may have no account here.
        personId: askedBy,
        facts: { askedBy: requester?.email ?? '' },
      });
      return true;
    });
    return saved ? 'sent' : 'too-soon';
  }

  /** What a link verifies, without changing anything; undefined if it is unknown, used or expired, or the account is suspended. */
  async find(token: string): Promise<SenderVerificationDetails | undefined> {
    return this.#find(this.#dependencies.database.kysely, token);
  }

  async #find(kysely: Kysely, token: string): Promise<SenderVerificationDetails | undefined> {
    if (!tokenPattern.test(token)) return undefined;
    const now = new Date(this.#dependencies.clock.now());
    const facts = await readSenderVerification(kysely, hashOf(token), now);
    return facts && (await lockActiveAccount(kysely, facts.accountId)) ? facts : undefined;
  }

  /** Consumes a token and records who used it. @returns the verified address, or undefined */
  async confirm(token: string, origin: RequestOrigin): Promise<string | undefined> {
    const { database, clock } = this.#dependencies;
    return database.kysely.transaction().execute(async (transaction) => {
      if ((await this.#find(transaction, token)) === undefined) return undefined;
      const now = new Date(clock.now());
      const confirmed = await completeSenderVerification(transaction, hashOf(token), now);
      if (confirmed === undefined) return undefined;
      const { accountId, address } = confirmed;
      const event = { kind: 'sender_confirmed', accountId, origin, detail: { id: address } };
      await recordAuditEvent(transaction, event);
      return address;
    });
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
