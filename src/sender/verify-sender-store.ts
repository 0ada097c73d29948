import { sql } from 'kysely';
import { announceChange } from '../foundation/database/announce.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
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
    .where('address', 'like', atDomain(domain))
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
function atDomain(domain: string): string {
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
    .where('address', 'like', atDomain(domain))
    .returning('address')
    .execute();
  for (const { address } of rows)
    await announceChange(transaction, senderTopic, senderKey(accountId, address));
}

/** A sender gets a link at most so often, so that nobody's mailbox is filled by asking. */
const pause = "interval '1 minute'";

/**
 * Keeps the hash of a link's token that is to be mailed; an earlier link of the same sender ends.
 * @returns false where the earlier one is less than a minute old
 */
export async function saveSenderProof(
  transaction: Kysely,
  accountId: AccountId,
  address: string,
  hash: Buffer,
  expiresAt: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('sender_proof')
    .values({ account_id: accountId, address, hash, expires_at: expiresAt })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'address'])
        .doUpdateSet({ hash, expires_at: expiresAt })
        .where(sql<boolean>`sender_proof.expires_at <= excluded.expires_at - ${sql.raw(pause)}`),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/**
 * Spends a link's token and verifies its sender, and tells all nodes at commit.
 * @returns whose sender it was; undefined where the token is unknown, spent or too old
 */
export async function spendSenderProof(
  transaction: Kysely,
  hash: Buffer,
  now: Date,
): Promise<{ readonly accountId: AccountId; readonly address: string } | undefined> {
  const proof = await transaction
    .deleteFrom('sender_proof')
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .returning(['account_id', 'address'])
    .executeTakeFirst();
  if (proof === undefined) return undefined;
  const accountId = proof.account_id as AccountId;
  await transaction
    .updateTable('sender')
    .set({ verified_at: now, verified_by: 'link' })
    .where('account_id', '=', accountId)
    .where('address', '=', proof.address)
    .execute();
  await announceChange(transaction, senderTopic, senderKey(accountId, proof.address));
  return { accountId, address: proof.address };
}
