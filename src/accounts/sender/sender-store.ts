import { alignByOrdinal } from '../../base/database/align-by-ordinal.ts';
import { announceChange } from '../../base/database/announce.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { DomainState } from './sending-domain.ts';

/** An address that an account can send from once verified. */
export interface Sender {
  /** Normalized: lower case, ASCII domain. */
  readonly address: string;
  /** The first is the default; `*` allows any. */
  readonly displayNames: readonly string[];
  readonly verified: boolean;
}

/** Cache topic of senders; the key is `senderKey`. */
export const senderTopic = 'sender';

/** The cache key of a sender; account IDs contain no `/`. */
export function senderKey(accountId: AccountId, address: string): string {
  return `${accountId}/${address}`;
}

/** Notifies all nodes of a changed sender at commit. */
export function announceSender(
  transaction: Kysely,
  accountId: AccountId,
  address: string,
): Promise<void> {
  return announceChange(transaction, senderTopic, senderKey(accountId, address));
}

/** Identifies a sender. */
export interface SenderRef {
  readonly accountId: AccountId;
  /** Normalized. */
  readonly address: string;
}

/** The sender with this address, or undefined. */
export async function readSender(
  kysely: Kysely,
  accountId: AccountId,
  address: string,
): Promise<Sender | undefined> {
  const [sender] = await readSendersByRef(kysely, [{ accountId, address }]);
  return sender;
}

/** The senders with these keys, in the order of the keys. */
export async function readSendersByRef(
  kysely: Kysely,
  refs: readonly SenderRef[],
): Promise<(Sender | undefined)[]> {
  const rows = await allRows<Sender & { readonly n: number }>(kysely)`
    select k.n::int as n, s.address, s.display_names as "displayNames", s.verified_at is not null as verified
    from unnest(${refs.map((name) => name.accountId)}::text[], ${refs.map((name) => name.address)}::text[])
      with ordinality as k (account_id, address, n)
    join sender s on s.account_id = k.account_id and s.address = k.address`;
  return alignByOrdinal(rows, refs.length, ({ n: _, ...sender }) => sender);
}

/** All senders of an account, ordered by address. */
export function readSenders(kysely: Kysely, accountId: AccountId): Promise<Sender[]> {
  return allRows<Sender>(kysely)`
    select address, display_names as "displayNames", verified_at is not null as verified
    from sender where account_id = ${accountId} order by address`;
}

/** Inserts or updates a sender and notifies all nodes at commit. */
export async function saveSender(
  transaction: Kysely,
  accountId: AccountId,
  { address, displayNames, verified }: Sender,
): Promise<void> {
  // A previous verification no longer counts once the sender became unverified.
  await run(transaction)`
    insert into sender (account_id, address, display_names, verified_at)
    values (${accountId}, ${address}, ${displayNames}, case when ${verified} then now() end)
    on conflict (account_id, address) do update set display_names = excluded.display_names,
      verified_at = case when ${verified} then coalesce(sender.verified_at, excluded.verified_at) end,
      verified_by = case when ${verified} and sender.verified_at is not null then sender.verified_by end`;
  await announceSender(transaction, accountId, address);
}

/** Removes a sender and notifies all nodes at commit. */
export async function removeSender(
  transaction: Kysely,
  accountId: AccountId,
  address: string,
): Promise<void> {
  await run(
    transaction,
  )`delete from sender where account_id = ${accountId} and address = ${address}`;
  await announceSender(transaction, accountId, address);
}

/** A sender with what its owners need to know to set it up. */
export interface SenderDetails extends Sender {
  /** How it was verified; `operator` also for manifests. Null if it isn't verified. */
  readonly verifiedBy: 'domain' | 'link' | 'operator' | null;
  /** The nearest sending domain of the account, which may be a parent; null if there is none, so its mail isn't signed here. */
  readonly sendingDomain: string | null;
  /** The state of that domain. */
  readonly domainState: DomainState | null;
  /** When the emailed link expires; null if there is none that works. */
  readonly linkExpiresAt: Date | null;
}

/** Senders of an account with their details, ordered by address, or the one with the given address. */
export function readSenderDetails(
  kysely: Kysely,
  accountId: AccountId,
  filter: { readonly address?: string; readonly after?: string; readonly limit?: number } = {},
): Promise<SenderDetails[]> {
  const { address = null, after = '', limit = 1 } = filter;
  return allRows<SenderDetails>(kysely)`
    select s.address, s.display_names as "displayNames", s.verified_at is not null as verified,
      case when s.verified_at is not null then coalesce(s.verified_by, 'operator') end as "verifiedBy",
      nearest.domain as "sendingDomain", nearest.state as "domainState",
      (select p.expires_at from sender_proof p
        where p.account_id = s.account_id and p.address = s.address and p.expires_at > now()) as "linkExpiresAt"
    from sender s
    left join lateral (
      select d.domain, d.state from sending_domain d
      where d.account_id = s.account_id
        and right('.' || split_part(s.address, '@', 2), length(d.domain) + 1) = '.' || d.domain
      order by length(d.domain) desc limit 1) nearest on true
    where s.account_id = ${accountId} and s.address > ${after} and (${address}::text is null or s.address = ${address})
    order by s.address limit ${limit}`;
}
