import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, countChanged, run } from '../../base/database/statements.ts';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { NewSuppression, Suppression, SuppressionReason } from './suppression.ts';

/**
 * Adds entries, one per address and reason. Existing ones keep their time and source, and the later expiry; one that has expired
 * counts as absent.
 * @returns number of new entries
 */
export async function addSuppressions(
  kysely: Kysely,
  accountId: AccountId,
  entries: readonly NewSuppression[],
): Promise<number> {
  const rows = entries.map((entry) => ({
    address: entry.address,
    reason: entry.reason,
    message_id: entry.messageId ?? null,
    expires_at: entry.expiresAt?.toISOString() ?? null,
  }));
  await run(kysely)`
    delete from suppression s using json_to_recordset(${JSON.stringify(rows)}::json) as e (address text, reason text)
    where s.account_id = ${accountId} and s.address = e.address and s.reason = e.reason and s.expires_at <= now()`;
  const written = await allRows<{ fresh: boolean }>(kysely)`
    insert into suppression as s (account_id, address, reason, message_id, expires_at, created_at)
    select distinct on (e.address, e.reason) ${accountId}, e.address, e.reason, e.message_id, e.expires_at,
      now()
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as e (address text, reason text, message_id uuid, expires_at timestamptz)
    order by e.address, e.reason, e.expires_at desc nulls first
    on conflict (account_id, address, reason) do update
    set expires_at = case when s.expires_at is null or excluded.expires_at is null then null
      else greatest(s.expires_at, excluded.expires_at) end
    returning xmax = 0 as fresh`;
  return written.filter((row) => row.fresh).length;
}

/**
 * Removes an address from the list, for one reason or all.
 * @returns number of entries removed
 */
export async function removeSuppression(
  kysely: Kysely,
  accountId: AccountId,
  address: ComparableAddress,
  reason?: SuppressionReason,
): Promise<number> {
  return await countChanged(kysely)`
    delete from suppression
    where account_id = ${accountId} and address = ${address}
      and (${reason ?? null}::text is null or reason = ${reason ?? null})`;
}

/** Where an entry is in the list. */
export interface SuppressionPosition {
  /** `createdAt` in full precision. */
  readonly createdText: string;
  readonly address: string;
  readonly reason: string;
}

export interface SuppressionFilter {
  /** Matches addresses that contain this text, in lower case. */
  readonly contains?: string | undefined;
  readonly reason?: SuppressionReason | undefined;
  /** The last entry of the previous page. */
  readonly after?: SuppressionPosition | undefined;
  readonly limit: number;
}

/** A page of an account's entries, newest first, including expired ones. */
export async function findSuppressions(
  kysely: Kysely,
  accountId: AccountId,
  filter: SuppressionFilter,
): Promise<(Suppression & SuppressionPosition)[]> {
  const { after, contains, reason, limit } = filter;
  const isAfter =
    after === undefined
      ? sql`true`
      : sql`(created_at, address, reason) < (${after.createdText}::timestamptz, ${after.address}, ${after.reason})`;
  return await allRows<Suppression & SuppressionPosition>(kysely)`
    select address, reason, message_id as "messageId", created_at as "createdAt", expires_at as "expiresAt",
      created_at::text as "createdText"
    from suppression
    where account_id = ${accountId}
      and ${isAfter}
      and (${reason ?? null}::text is null or reason = ${reason ?? null})
      and (${contains ?? null}::text is null or position(${contains ?? null} in address) > 0)
    order by created_at desc, address desc, reason desc limit ${limit}`;
}

export async function readSuppressions(
  kysely: Kysely,
  accountId: AccountId,
  address: ComparableAddress,
): Promise<Suppression[]> {
  return await allRows<Suppression>(kysely)`
    select address, reason, message_id as "messageId", created_at as "createdAt", expires_at as "expiresAt"
    from suppression where account_id = ${accountId} and address = ${address} order by reason`;
}

/** A numbered page of entries. */
export interface SuppressionRange {
  readonly reason: SuppressionReason;
  /** When they were created, `until` excluded. */
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** A page of an account's entries, newest first, without expired ones. Skipping many takes time. */
export async function readSuppressionRange(
  kysely: Kysely,
  accountId: AccountId,
  { reason, from, until, offset, limit }: SuppressionRange,
): Promise<Suppression[]> {
  return await allRows<Suppression>(kysely)`
    select address, reason, message_id as "messageId", created_at as "createdAt", expires_at as "expiresAt"
    from suppression
    where account_id = ${accountId} and reason = ${reason} and (expires_at is null or expires_at > now())
      and created_at >= ${from?.toISOString() ?? '-infinity'}::timestamptz
      and created_at < ${until?.toISOString() ?? 'infinity'}::timestamptz
    order by created_at desc, address desc limit ${limit} offset ${offset}`;
}
