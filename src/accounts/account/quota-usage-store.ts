import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { firstRow, run } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Quota } from './account.ts';

/** The hour and the day that a share counts toward. */
export interface QuotaWindow {
  readonly hourAt: Date;
  readonly dayAt: Date;
}

/** Recipients of messages that a process may accept, deducted from both the hour and the day. */
export interface QuotaShare extends QuotaWindow {
  readonly granted: number;
  /** What remains of the hour and of the day afterwards; undefined if there is no limit. */
  readonly hourLeft: number | undefined;
  readonly dayLeft: number | undefined;
  /** Milliseconds until the hour, and the day, ends. */
  readonly hourEndsIn: number;
  readonly dayEndsIn: number;
}

/** A process claims at most this fraction of the remainder, which leaves some for others. */
const shareDivisor = 32;

/**
 * Claims a share of an account's quota in one statement, so that all processes together never exceed it.
 * @param needed recipients of messages waiting for it now; they get whatever is left
 * @param wanted additional recipients to claim while plenty is left
 */
export async function claimQuotaShare(
  kysely: Kysely,
  accountId: AccountId,
  quota: Quota,
  { needed, wanted }: { readonly needed: number; readonly wanted: number },
): Promise<QuotaShare> {
  // Usage of the current hour and day; a statement that waited for the row may have started in the previous hour.
  const hourUsed = sql`case when u.hour_at >= excluded.hour_at then u.hour_used else 0 end`;
  const dayUsed = sql`case when u.day_at >= excluded.day_at then u.day_used else 0 end`;
  const unlimited = 2 ** 31 - 1;
  const perHour = sql`${quota.perHour ?? unlimited}::int`;
  const perDay = sql`${quota.perDay ?? unlimited}::int`;
  const share = (left: ReturnType<typeof sql>) =>
    sql`greatest(0, least(${left}, greatest(${needed}::int, least(${wanted}::int, (${left}) / ${shareDivisor}))))`;
  const shareAfterConflict = share(
    sql`least(${perHour} - (${hourUsed}), ${perDay} - (${dayUsed}))`,
  );
  const row = await firstRow<{
    hour_at: Date;
    hour_used: number;
    day_at: Date;
    day_used: number;
    granted: number;
    now: Date;
  }>(kysely)`
    with moment as materialized (select now() as now),
    first as materialized (select ${share(sql`least(${perHour}, ${perDay})`)} as granted)
    insert into account_quota_use as u (account_id, hour_at, hour_used, day_at, day_used, granted)
    select ${accountId}, date_trunc('hour', now, 'UTC'), granted, date_trunc('day', now, 'UTC'), granted, granted
    from moment, first
    on conflict (account_id) do update set
      hour_at = greatest(u.hour_at, excluded.hour_at), hour_used = (${hourUsed}) + ${shareAfterConflict},
      day_at = greatest(u.day_at, excluded.day_at), day_used = (${dayUsed}) + ${shareAfterConflict},
      granted = ${shareAfterConflict}
    returning hour_at, hour_used, day_at, day_used, granted, now() as now`;
  if (row === undefined) throw new Error('claiming a quota share returned no row');
  const now = row.now.getTime();
  return {
    hourAt: row.hour_at,
    dayAt: row.day_at,
    granted: row.granted,
    hourLeft: quota.perHour === undefined ? undefined : quota.perHour - row.hour_used,
    dayLeft: quota.perDay === undefined ? undefined : quota.perDay - row.day_used,
    hourEndsIn: row.hour_at.getTime() + 3_600_000 - now,
    dayEndsIn: row.day_at.getTime() + 86_400_000 - now,
  };
}

/** Returns the unused part of a share; ignored if its hour or day is over. */
export async function returnQuotaShare(
  kysely: Kysely,
  accountId: AccountId,
  { hourAt, dayAt }: QuotaWindow,
  unused: number,
): Promise<void> {
  await run(kysely)`
    update account_quota_use
    set hour_used = greatest(0, hour_used - case when hour_at = ${hourAt} then ${unused}::int else 0 end),
      day_used = greatest(0, day_used - case when day_at = ${dayAt} then ${unused}::int else 0 end)
    where account_id = ${accountId} and day_at = ${dayAt}`;
}

/** An account's usage of the current hour and day, including the shares that processes hold. */
export interface QuotaUsage extends QuotaWindow {
  readonly hourUsed: number;
  readonly dayUsed: number;
}

export async function readQuotaUsage(kysely: Kysely, accountId: AccountId): Promise<QuotaUsage> {
  const usage = await firstRow<QuotaUsage>(kysely)`
    select t.hour as "hourAt", t.day as "dayAt",
      coalesce(case when u.hour_at = t.hour then u.hour_used end, 0) as "hourUsed",
      coalesce(case when u.day_at = t.day then u.day_used end, 0) as "dayUsed"
    from (select date_trunc('hour', now, 'UTC') as hour, date_trunc('day', now, 'UTC') as day
      from (select now() as now) m) t
    left join account_quota_use u on u.account_id = ${accountId}`;
  if (usage === undefined) throw new Error('select returned no row');
  return usage;
}
