import { type RawBuilder, sql } from 'kysely';
import { type Follower, readersRestMs } from '../feedback/feed/event-feed.ts';
import { waitForCursor } from '../feedback/feed/feed-cursor-store.ts';
import { inWindow } from '../feedback/feed/feed-window-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import { reportColumns } from '../message/event-kinds.ts';
import { packSteps, sumHistograms } from './histogram-store.ts';
import { countFacts, reportFacts } from './report-facts-store.ts';
import { addSums, rebuildSums } from './report-sums-store.ts';

type Kysely = Database['kysely'];

const columns = sql.join(reportColumns.map((name) => sql.ref(name)));
/** Lock this follower's cursor before changing totals. */
export const reportFollowerName = 'report';

/** Adds new facts to the totals. A single writer of an account avoids row contention. */
export const rollUp: Follower = {
  name: reportFollowerName,
  restMs: readersRestMs,
  async follow(transaction, window) {
    // A scalar subquery never becomes a join: that one would begin with the accounts, of which the planner expects none in a new
    // installation, and read all messages of each.
    const within = (table: string) =>
      sql`${inWindow(window, table)} and (select account.id from account where account.id = m.account_id) is not null`;
    await addFacts(transaction, reportFacts(within('m'), within('e')));
  },
};

/**
 * Recounts an account's totals for a time range from its messages and events, which must still be retained. An erased
 * message counts as one recipient without domains.
 * @param from, until quarter-hour boundaries
 */
export async function rebuildReport(
  kysely: Kysely,
  accountId: AccountId,
  from: Date,
  until: Date,
): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    const cursor = await waitForCursor(transaction, reportFollowerName, accountId);
    for (const table of ['report_total', 'report_locale', 'report_destination', 'report_latency']) {
      await sql`
        delete from ${sql.table(table)}
        where account_id = ${accountId} and quarter >= ${from} and quarter < ${until}`.execute(
        transaction,
      );
    }
    const messages = sql`m.account_id = ${accountId} and m.tx < ${cursor}::xid8
      and m.accepted_at >= ${from} and m.accepted_at < ${until}`;
    const events = sql`e.account_id = ${accountId} and e.tx < ${cursor}::xid8 and e.at >= ${from} and e.at < ${until}`;
    await addFacts(transaction, reportFacts(messages, events));
    await rebuildSums(transaction, accountId, from, until);
    // Rebuilt rows are unordered again.
    await sql`
      update report_ordered set until = least(until, date_bin('1 day', ${from}, '2000-01-01 00:00Z'))
      where account_id = ${accountId}`.execute(transaction);
  });
}

async function addFacts(transaction: Kysely, facts: RawBuilder<unknown>): Promise<void> {
  const added = (table: string) =>
    sql.join(
      reportColumns.map(
        (name) =>
          sql`${sql.ref(name)} = ${sql.ref(`${table}.${name}`)} + ${sql.ref(`excluded.${name}`)}`,
      ),
    );
  const increments = {
    totals: sql`total`,
    locales: sql`locale`,
    destinations: sql`destination`,
    latencies: sql`latency`,
  };
  await sql`
    with ${totalsOf(facts)},
    ${addSums(increments, ['quarter', 'day'])},
    totals as (
      insert into report_total (account_id, quarter, template_id, tag, sender_domain, ${columns})
      select account_id, quarter, template_id, tag, sender_domain, ${columns} from total order by 1, 2, 3, 4, 5
      on conflict (account_id, quarter, template_id, tag, sender_domain) do update set ${added('report_total')}),
    locales as (
      insert into report_locale (account_id, quarter, template_id, locale, ${columns})
      select account_id, quarter, template_id, locale, ${columns} from locale order by 1, 2, 3, 4
      on conflict (account_id, quarter, template_id, locale) do update set ${added('report_locale')}),
    destinations as (
      insert into report_destination (account_id, quarter, destination_domain, ${columns})
      select account_id, quarter, destination_domain, ${columns} from destination order by 1, 2, 3
      on conflict (account_id, quarter, destination_domain) do update set ${added('report_destination')})
    insert into report_latency (account_id, quarter, template_id, histogram)
    select account_id, quarter, template_id, ${packSteps} from latency group by 1, 2, 3 order by 1, 2, 3
    on conflict (account_id, quarter, template_id) do update
    set histogram = ${sumHistograms(sql`report_latency.histogram`, sql`excluded.histogram`)}`.execute(
    transaction,
  );
}

/**
 * CTEs that count facts into the columns of `reportFacts`: `total`, `locale`, `destination`, and `latency` with one row per step.
 */
function totalsOf(facts: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    facts as materialized (${facts}),
    total as materialized (
      select account_id, quarter, template_id, tag, sender_domain, ${countFacts}
      from facts group by 1, 2, 3, 4, 5),
    locale as materialized (
      select account_id, quarter, template_id, locale, ${countFacts}
      from facts where locale <> '' group by 1, 2, 3, 4),
    destination as materialized (
      select account_id, quarter, destination_domain, ${countFacts} from facts group by 1, 2, 3),
    latency as materialized (
      select account_id, quarter, template_id,
        least(32000, greatest(0, round(8 * ln(greatest(took, 1)) / ln(2)))) as step, count(*) as count
      from facts where took is not null group by 1, 2, 3, 4)`;
}
