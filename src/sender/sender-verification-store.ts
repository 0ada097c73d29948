import { sql } from 'kysely';
import { announceChange } from '../foundation/database/announce.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';
import { senderKey, senderTopic } from './sender-store.ts';

type Kysely = Database['kysely'];

/**
 * Verifies the senders of an account whose domain is verified, and tells all nodes at commit.
 * @returns their addresses
 */
export async function verifySendersOfDomain(
  transaction: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<string[]> {
  const rows = await transaction
    .updateTable('sender')
    .set({ verified_at: new Date(), verified_by: 'domain' })
    .where('account_id', '=', accountId)
    .where('verified_at', 'is', null)
    .where('address', 'like', domainAddressPattern(domain))
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('sending_domain')
          .select('domain')
          .where('account_id', '=', accountId)
          .where('domain', '=', domain)
          .where('state', '=', 'verified'),
      ),
    )
    .returning('address')
    .execute();
  for (const { address } of rows)
    await announceChange(transaction, senderTopic, senderKey(accountId, address));
  return rows.map(({ address }) => address);
}

/** Matches the addresses of a domain, not of those below it. */
function domainAddressPattern(domain: string): string {
  return `%@${domain.replace(/[\\%_]/g, '\\$&')}`;
}

/**
 * Takes back what a domain that is removed said about its senders, and tells all nodes at commit: nobody looks any more
 * whether it is still the account's. Those that a link or an operator verified stay so.
 */
export async function unverifySendersOfDomain(
  transaction: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<void> {
  const rows = await transaction
    .updateTable('sender')
    .set({ verified_at: null, verified_by: null })
    .where('account_id', '=', accountId)
    .where('verified_by', '=', 'domain')
    .where('address', 'like', domainAddressPattern(domain))
    .returning('address')
    .execute();
  for (const { address } of rows)
    await announceChange(transaction, senderTopic, senderKey(accountId, address));
}

/** A sender gets a link at most so often, so that nobody's mailbox is filled by asking. */
const minLinkInterval = "interval '1 minute'";

/**
 * Keeps the hash of a link's token that is to be mailed; an earlier link of the same sender ends.
 * @returns false where the earlier one is less than a minute old
 */
export async function saveSenderVerification(
  transaction: Kysely,
  accountId: AccountId,
  address: string,
  hash: Buffer,
  expiresAt: Date,
  askedBy: PersonId | undefined,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('sender_proof')
    .values({
      account_id: accountId,
      address,
      hash,
      expires_at: expiresAt,
      asked_by: askedBy ?? null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'address'])
        .doUpdateSet({ hash, expires_at: expiresAt, asked_by: askedBy ?? null })
        .where(
          sql<boolean>`sender_proof.expires_at <= excluded.expires_at - ${sql.raw(minLinkInterval)}`,
        ),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** What a link is for: the sender, the account that may send from it, and who asked. */
export interface SenderVerificationDetails {
  readonly accountId: AccountId;
  readonly accountName: string;
  readonly address: string;
  /** Null: a machine, or a person who is there no more. */
  readonly askedBy: string | null;
}

/** What a link's token confirms; undefined where it is unknown, spent or too old. */
export async function readSenderVerification(
  kysely: Kysely,
  hash: Buffer,
  now: Date,
): Promise<SenderVerificationDetails | undefined> {
  const { rows } = await sql<SenderVerificationDetails>`
    select s.account_id as "accountId", a.name as "accountName", s.address, p.email as "askedBy"
    from sender_proof s join account a on a.id = s.account_id left join person p on p.id = s.asked_by
    where s.hash = ${hash} and s.expires_at > ${now}`.execute(kysely);
  return rows[0];
}

/**
 * Spends a link's token and verifies its sender, and tells all nodes at commit.
 * @returns whose sender it was; undefined where the token is unknown, spent or too old
 */
export async function completeSenderVerification(
  transaction: Kysely,
  hash: Buffer,
  now: Date,
): Promise<{ readonly accountId: AccountId; readonly address: string } | undefined> {
  const verification = await transaction
    .deleteFrom('sender_proof')
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .returning(['account_id', 'address'])
    .executeTakeFirst();
  if (verification === undefined) return undefined;
  const accountId = verification.account_id as AccountId;
  await transaction
    .updateTable('sender')
    .set({ verified_at: now, verified_by: 'link' })
    .where('account_id', '=', accountId)
    .where('address', '=', verification.address)
    .execute();
  await announceChange(transaction, senderTopic, senderKey(accountId, verification.address));
  return { accountId, address: verification.address };
}
