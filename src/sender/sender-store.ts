import { sql } from 'kysely';
import { alignByOrdinal } from '../foundation/database/align-by-ordinal.ts';
import { announceChange } from '../foundation/database/announce.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { DomainState } from './sending-domain.ts';

type Kysely = Database['kysely'];

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
  const { rows } = await sql<SenderRow & { readonly n: number }>`
    select k.n::int as n, s.address, s.display_names, s.verified_at
    from unnest(${refs.map((name) => name.accountId)}::text[], ${refs.map((name) => name.address)}::text[])
      with ordinality as k (account_id, address, n)
    join sender s on s.account_id = k.account_id and s.address = k.address`.execute(kysely);
  return alignByOrdinal(rows, refs.length, toSender);
}

/** All senders of an account, ordered by address. */
export async function readSenders(kysely: Kysely, accountId: AccountId): Promise<Sender[]> {
  const rows = await kysely
    .selectFrom('sender')
    .select(['address', 'display_names', 'verified_at'])
    .where('account_id', '=', accountId)
    .orderBy('address')
    .execute();
  return rows.map(toSender);
}

/** Inserts or updates a sender and notifies all nodes at commit. */
export async function saveSender(
  transaction: Kysely,
  accountId: AccountId,
  sender: Sender,
): Promise<void> {
  await transaction
    .insertInto('sender')
    .values({
      account_id: accountId,
      address: sender.address,
      display_names: [...sender.displayNames],
      verified_at: sender.verified ? new Date() : null,
    })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'address']).doUpdateSet((eb) => ({
        display_names: eb.ref('excluded.display_names'),
        verified_at: sender.verified
          ? eb.fn.coalesce('sender.verified_at', 'excluded.verified_at')
          : null,
        // A previous verification no longer counts once the sender became unverified.
        verified_by: sender.verified
          ? eb
              .case()
              .when('sender.verified_at', 'is not', null)
              .then(eb.ref('sender.verified_by'))
              .else(null)
              .end()
          : null,
      })),
    )
    .execute();
  await announceChange(transaction, senderTopic, senderKey(accountId, sender.address));
}

/** Removes a sender and notifies all nodes at commit. */
export async function removeSender(
  transaction: Kysely,
  accountId: AccountId,
  address: string,
): Promise<void> {
  await transaction
    .deleteFrom('sender')
    .where('account_id', '=', accountId)
    .where('address', '=', address)
    .execute();
  await announceChange(transaction, senderTopic, senderKey(accountId, address));
}

interface SenderRow {
  readonly address: string;
  readonly display_names: string[];
  readonly verified_at: Date | null;
}

function toSender(row: SenderRow): Sender {
  return {
    address: row.address,
    displayNames: row.display_names,
    verified: row.verified_at !== null,
  };
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
export async function readSenderDetails(
  kysely: Database['kysely'],
  accountId: AccountId,
  filter: { readonly address?: string; readonly after?: string; readonly limit?: number } = {},
): Promise<SenderDetails[]> {
  const { address = null, after = '', limit = 1 } = filter;
  const { rows } = await sql<SenderDetails>`
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
    order by s.address limit ${limit}`.execute(kysely);
  return rows;
}
