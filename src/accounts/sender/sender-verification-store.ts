import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, hasRow, run } from '../../base/database/statements.ts';
import type { AccountId, PersonId } from '../../base/values/ids.ts';
import { readEmails } from '../account/person-store.ts';
import { announceSender } from './sender-store.ts';

/**
 * Verifies the senders of a verified domain and notifies all nodes at commit.
 * @returns their addresses
 */
export async function verifySendersOfDomain(
  transaction: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<string[]> {
  const rows = await allRows<{ address: string }>(transaction)`
    update sender set verified_at = now(), verified_by = 'domain'
    where account_id = ${accountId} and verified_at is null and address like ${domainAddressPattern(domain)}
      and exists (
        select from sending_domain
        where account_id = ${accountId} and domain = ${domain} and state = 'verified')
    returning address`;
  for (const { address } of rows) await announceSender(transaction, accountId, address);
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
  const rows = await allRows<{ address: string }>(transaction)`
    update sender set verified_at = null, verified_by = null
    where account_id = ${accountId} and verified_by = 'domain' and address like ${domainAddressPattern(domain)}
    returning address`;
  for (const { address } of rows) await announceSender(transaction, accountId, address);
}

/** Minimum seconds between links to a sender, so requests can't flood a mailbox. */
const minLinkSeconds = 60;

/**
 * Stores the hash of a new link's token, replacing any earlier link of the sender. It stays if the sender is removed, and works if
 * the sender is added again, so that nobody gets another link for that.
 * @returns false if the earlier one is less than a minute old
 */
export function saveSenderVerification(
  transaction: Kysely,
  accountId: AccountId,
  address: string,
  hash: Buffer,
  expiresAt: Date,
  askedBy: PersonId | undefined,
): Promise<boolean> {
  return hasRow(transaction)`
    insert into sender_proof (account_id, address, hash, expires_at, asked_by)
    values (${accountId}, ${address}, ${hash}, ${expiresAt}, ${askedBy ?? null})
    on conflict (account_id, address) do update
    set hash = excluded.hash, expires_at = excluded.expires_at, asked_by = excluded.asked_by
    where sender_proof.expires_at <= excluded.expires_at - ${minLinkSeconds} * interval '1 s'
    returning 1`;
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
  const found = await firstRow<
    Omit<SenderVerificationDetails, 'askedBy'> & { asked_by: PersonId | null }
  >(kysely)`
    select s.account_id as "accountId", a.name as "accountName", s.address, s.asked_by
    from sender_proof s join account a on a.id = s.account_id
    join sender o on o.account_id = s.account_id and o.address = s.address
    where s.hash = ${hash} and s.expires_at > ${now}`;
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
  const verified = await firstRow<{ accountId: AccountId; address: string }>(transaction)`
    delete from sender_proof p using sender s
    where p.hash = ${hash} and p.expires_at > ${now} and s.account_id = p.account_id and s.address = p.address
    returning p.account_id as "accountId", p.address`;
  if (verified === undefined) return undefined;
  const { accountId, address } = verified;
  await run(transaction)`
    update sender set verified_at = ${now}, verified_by = 'link'
    where account_id = ${accountId} and address = ${address}`;
  await announceSender(transaction, accountId, address);
  return verified;
}
