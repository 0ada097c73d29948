import { sql } from 'kysely';
import { readEmails } from '../account/person-store.ts';
import { announceChange } from '../foundation/database/announce.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';
import { senderKey, senderTopic } from './sender-store.ts';

type Kysely = Database['kysely'];

/**
 * Verifies the senders of a verified domain and notifies all nodes at commit.
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

/** A LIKE pattern for the addresses of a domain, without subdomains. */
function domainAddressPattern(domain: string): string {
  return `%@${domain.replace(/[\\%_]/g, '\\$&')}`;
}

/**
 * Unverifies the senders verified through a removed domain, whose ownership is no longer checked, and notifies all nodes at
 * commit. Senders verified by a link or an operator stay verified.
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

/** Minimum interval between links to a sender, so requests can't flood a mailbox. */
const minLinkInterval = "interval '1 minute'";

/**
 * Stores the hash of a new link's token, replacing any earlier link of the sender. It stays if the sender is removed, and works if
 * the sender is added again, so that nobody gets another link for that.
 * @returns false if the earlier one is less than a minute old
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

/** What a link verifies: the sender, its account and who requested it. */
export interface SenderVerificationDetails {
  readonly accountId: AccountId;
  readonly accountName: string;
  readonly address: string;
  /** Null for API keys and deleted people. */
  readonly askedBy: string | null;
}

/** What a token verifies; undefined if it is unknown, used or expired, or the sender was removed. */
export async function readSenderVerification(
  kysely: Kysely,
  hash: Buffer,
  now: Date,
): Promise<SenderVerificationDetails | undefined> {
  const { rows } = await sql<
    Omit<SenderVerificationDetails, 'askedBy'> & { asked_by: PersonId | null }
  >`
    select s.account_id as "accountId", a.name as "accountName", s.address, s.asked_by
    from sender_proof s join account a on a.id = s.account_id
    join sender o on o.account_id = s.account_id and o.address = s.address
    where s.hash = ${hash} and s.expires_at > ${now}`.execute(kysely);
  const [found] = rows;
  if (found === undefined) return undefined;
  const { asked_by: askedBy, ...details } = found;
  const emails = await readEmails(kysely, [askedBy]);
  return { ...details, askedBy: (askedBy && emails.get(askedBy)) ?? null };
}

/**
 * Consumes a token, verifies its sender and notifies all nodes at commit.
 * @returns the sender; undefined if the token is unknown, used or expired
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
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('sender')
          .select('address')
          .whereRef('sender.account_id', '=', 'sender_proof.account_id')
          .whereRef('sender.address', '=', 'sender_proof.address'),
      ),
    )
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
