import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { Sender } from './sender-store.ts';
import type { DomainState } from './sending-domain.ts';

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
