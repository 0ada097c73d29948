import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { waitForCursor } from '../feed/feed-cursor-store.ts';
import { reportFollowerName } from './roll-up-store.ts';

/** A UTC day of an account whose rows are still in arrival order. */
export interface UnorderedDay {
  readonly accountId: AccountId;
  readonly day: Date;
}

const dayMs = 24 * 60 * 60 * 1_000;

/** Tables, their time columns, and the order in which reports read them. */
const tables: readonly (readonly [table: string, time: string, order: string])[] = [
  ['report_total', 'quarter', 'template_id, tag, sender_domain, quarter'],
  ['report_locale', 'quarter', 'template_id, locale, quarter'],
  ['report_destination', 'quarter', 'destination_domain, quarter'],
  ['report_latency', 'quarter', 'template_id, quarter'],
  ['report_sum', 'begins', 'span, sum_of, key, tag, begins'],
  ['report_latency_sum', 'begins', 'span, template_id, begins'],
];

/** The oldest unordered day before `bound` for each account that has one; at most `limit` accounts. */
export async function findUnordered(
  kysely: Kysely,
  bound: Date,
  limit: number,
): Promise<UnorderedDay[]> {
  return await allRows<UnorderedDay>(kysely)`
    select a.id as "accountId", date_bin('1 day', first.quarter, '2000-01-01 00:00Z') as day
    from account a
    left join report_ordered o on o.account_id = a.id
    cross join lateral (
      select quarter from report_total t
      where t.account_id = a.id and t.quarter >= coalesce(o.until, '-infinity') and t.quarter < ${bound}
      order by quarter limit 1) as first
    order by 2, 1 limit ${limit}`;
}

/**
 * Rewrites a day's rows in the order reports read them. In arrival order, kinds are interleaved, so a report on one
 * kind would read a page per row. Blocks the roll-up while it runs.
 * @returns false if another node already did it
 */
export async function orderRows(
  kysely: Kysely,
  { accountId, day }: UnorderedDay,
): Promise<boolean> {
  const end = new Date(day.getTime() + dayMs);
  return await kysely.transaction().execute(async (transaction) => {
    await waitForCursor(transaction, reportFollowerName, accountId);
    const rows = await allRows(transaction)`
      insert into report_ordered (account_id, until) values (${accountId}, ${end})
      on conflict (account_id) do update set until = excluded.until where report_ordered.until < excluded.until
      returning until`;
    if (rows.length === 0) return false;
    for (const [table, time, order] of tables)
      await run(transaction)`
        with taken as (
          delete from ${sql.table(table)}
          where account_id = ${accountId} and ${sql.ref(time)} >= ${day} and ${sql.ref(time)} < ${end}
          returning *)
        insert into ${sql.table(table)} select * from taken order by ${sql.raw(order)}`;
    return true;
  });
}
