import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { run } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import {
  type ReportFilter,
  readerEventKinds,
  reportColumnFacts,
  reportColumns,
} from '../../content/message/event-kinds.ts';
import {
  contentMembers,
  engagementBit,
  kindList,
  startOf,
} from '../../content/message/message-sql.ts';
import { isLive } from '../../content/message/test-class.ts';
import { hardCauses } from '../../sending/delivery/reply-rules.ts';
import { type Follower, readersRestMs } from '../feed/event-feed.ts';
import { waitForCursor } from '../feed/feed-cursor-store.ts';
import { inWindow } from '../feed/feed-window-store.ts';
import { firstWaitStep, packSteps, sumHistograms, unpackSteps } from './histogram-store.ts';
import { defaultContent } from './report-query.ts';

const columns = sql.join(reportColumns.map((name) => sql.ref(name)));

/** Adds the columns to those of a row of the table. */
const added = (table: string) =>
  sql.join(
    reportColumns.map(
      (name) =>
        sql`${sql.ref(name)} = ${sql.ref(`${table}.${name}`)} + ${sql.ref(`excluded.${name}`)}`,
    ),
  );
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
      await run(transaction)`
        delete from ${sql.table(table)}
        where account_id = ${accountId} and quarter >= ${from} and quarter < ${until}`;
    }
    const messages = sql`m.account_id = ${accountId} and m.tx < ${cursor}::xid8
      and m.accepted_at >= ${from} and m.accepted_at < ${until}`;
    const events = sql`e.account_id = ${accountId} and e.tx < ${cursor}::xid8 and e.at >= ${from} and e.at < ${until}`;
    await addFacts(transaction, reportFacts(messages, events));
    await rebuildSums(transaction, accountId, from, until);
    // Rebuilt rows are unordered again.
    await run(transaction)`
      update report_ordered set until = least(until, date_bin('1 day', ${from}, '2000-01-01 00:00Z'))
      where account_id = ${accountId}`;
  });
}

async function addFacts(transaction: Kysely, facts: RawBuilder<unknown>): Promise<void> {
  const increments = {
    totals: sql`total`,
    locales: sql`locale`,
    destinations: sql`destination`,
    latencies: sql`latency`,
  };
  await run(transaction)`
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
    set histogram = ${sumHistograms(sql`report_latency.histogram`, sql`excluded.histogram`)}`;
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
        least(${firstWaitStep - 1}::integer, greatest(0, round(8 * ln(greatest(took, 1)) / ln(2))))
          + case kind when 'link-confirmed' then ${firstWaitStep}::integer else 0 end as step, count(*) as count
      from facts where took is not null group by 1, 2, 3, 4)`;
}

type Condition = RawBuilder<unknown>;

/**
 * One row for each item that reports count: accepted recipients of the matching messages, and matching events with data of
 * their messages. A feed window and a rebuild differ only in the conditions, so they give the same numbers. The account's own copy isn't counted, and test
 * messages aren't.
 * @param messages condition on `m` @param events condition on `e`
 */
export function reportFacts(messages: Condition, events: Condition): RawBuilder<unknown> {
  // An event's message is a lateral lookup with a limit, which makes it one index probe. Without statistics, the planner
  // would otherwise read all messages of an account for each event.
  return sql`
    select m.account_id, date_bin('15 minutes', m.accepted_at, '2000-01-01') as quarter, m.template_id,
      coalesce(m.tag, '') as tag, ${locale} as locale, ${domainOf(sql`c.sender ->> 'address'`)} as sender_domain,
      ${domainOf(sql`r.address`)} as destination_domain, 'accepted' as kind, null::text as class, false as hard,
      false as first, null::float8 as took
    from message m ${parties}
    cross join lateral (
      select c.recipient as address
      union all
      select json_array_elements_text(c.copies)) as r
    where ${messages} and ${sql.raw(isLive('m.retention_days'))}
    union all
    select m.account_id, date_bin('15 minutes', e.at, '2000-01-01'), m.template_id, coalesce(m.tag, ''), ${locale},
      ${domainOf(sql`c.sender ->> 'address'`)},
      ${domainOf(sql`case when coalesce(e.recipient, 0) = 0 then c.recipient else c.copies ->> (e.recipient - 1) end`)},
      e.kind, f.class,
      case when e.kind = 'bounced' then
        coalesce(e.detail ->> 'cause' = any (${hardCauses}::text[]) and coalesce(e.detail ->> 'permanent', 'true') = 'true', false)
        else false end,
      f.class is not null and coalesce(m.engaged, 0) & ${sql.raw(engagementBit('e'))} = 0 and not exists (
        select from message_event p
        where p.account_id = e.account_id and p.message_id = e.message_id and p.retention_days = e.retention_days
          and p.kind = e.kind and (p.tx, p.id) < (e.tx, e.id)
          and case p.detail ->> 'class' when 'person' then 'people' else 'machines' end = f.class),
      case when e.kind = 'delivered' and coalesce(e.recipient, 0) = 0
        then extract(epoch from e.at - ${sql.raw(startOf('m', 'e.retention_days'))}) * 1000
        when e.kind = 'link-confirmed' then (e.detail ->> 'afterDeliveryMs')::float8 end
    from message_event e
    cross join lateral (
      select message.account_id, message.template_id, message.tag, message.accepted_at, message.content, message.engaged
      from message
      where message.account_id = e.account_id and message.id = e.message_id and message.retention_days = e.retention_days
      limit 1) as m
    ${parties}
    cross join lateral (
      select case when e.kind in (${sql.raw(kindList(readerEventKinds))})
        then case e.detail ->> 'class' when 'person' then 'people' else 'machines' end end as class) as f
    where ${events} and ${sql.raw(isLive('e.retention_days'))} and (c.archive is null or e.recipient is distinct from 1 + coalesce(json_array_length(c.copies), 0))`;
}

/** Sender, recipients and variant of message `m` as `c`, which parses the long content only once. Null once it is erased. */
const parties = sql`
  left join lateral (
    select "to" as recipient, cc as copies, "from" as sender, variant, archive
    from ${sql.raw(contentMembers('m', 'content', ['to', 'cc', 'from', 'variant', 'archive']))}) as c on true`;

/** Empty for the default content. */
const locale = sql`coalesce(nullif(c.variant #>> '{}', ${sql.lit(defaultContent)}), '')`;

/** The domain in lower case, at most 255 characters; empty once the message is erased. */
function domainOf(address: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`left(lower(coalesce(split_part(${address}, '@', -1), '')), 255)`;
}

/** Conditions, besides the kind, for a fact to count in a column. */
const filters: Readonly<Record<ReportFilter, string>> = {
  all: '',
  hard: ' and hard',
  soft: ' and not hard',
  people: " and class = 'people'",
  'first of people': " and class = 'people' and first",
  machines: " and class = 'machines'",
  'first of machines': " and class = 'machines' and first",
};

/** The counts of a group of facts. */
const countFacts = sql.raw(
  reportColumnFacts
    .map(
      ({ name, kind, filter }) =>
        `count(*) filter (where kind = '${kind}'${filters[filter]}) as ${name}`,
    )
    .join(',\n  '),
);

const sums = sql.join(reportColumns.map((name) => sql`sum(${sql.ref(name)})`));
const day = sql`date_bin('1 day', quarter, '2000-01-01 00:00Z')`;

/**
 * Relations with the columns of `report_total`, `report_locale` and `report_destination`, and of `report_latency` with one row per step.
 */
interface ReportTotals {
  readonly totals: RawBuilder<unknown>;
  readonly locales: RawBuilder<unknown>;
  readonly destinations: RawBuilder<unknown>;
  /** Columns `account_id`, `quarter`, `template_id`, `step` and `count`. */
  readonly latencies: RawBuilder<unknown>;
}

type Span = 'quarter' | 'day';

/** Rows of `report_sum` for the given totals. */
function sumRows({ totals, locales, destinations }: ReportTotals, spans: readonly Span[]) {
  const wanted = sql`span = any (${spans}::text[])`;
  return sql`
    select account_id, span, sum_of, key, sum_tag as tag, begins, ${sums}
    from (
      select account_id, s.span, s.sum_of, s.key, s.sum_tag, s.begins, ${columns} from ${totals} as t
      cross join lateral (values
        ('quarter', 'all', '', '', quarter), ('quarter', 'template', template_id, '', quarter),
        ('quarter', 'tag', tag, '', quarter), ('quarter', 'sender', sender_domain, '', quarter),
        ('day', 'all', '', '', ${day}), ('day', 'template', template_id, '', ${day}),
        ('day', 'tag', tag, '', ${day}), ('day', 'sender', sender_domain, '', ${day}),
        ('day', 'template_tag', template_id, tag, ${day})) as s (span, sum_of, key, sum_tag, begins)
      where ${wanted}
      union all
      select account_id, s.span, s.sum_of, s.key, s.sum_tag, s.begins, ${columns} from ${locales} as t
      cross join lateral (values
        ('quarter', 'locale', locale, '', quarter), ('day', 'locale', locale, '', ${day}),
        ('day', 'template_locale', template_id, locale, ${day})) as s (span, sum_of, key, sum_tag, begins)
      where ${wanted}
      union all
      select account_id, s.span, 'destination', destination_domain, '', ${day}, ${columns} from ${destinations} as t
      cross join (values ('day')) as s (span)
      where ${wanted}) as each
    group by 1, 2, 3, 4, 5, 6`;
}

/** Rows of `report_latency_sum`. */
function latencySumRows({ latencies }: ReportTotals, spans: readonly Span[]) {
  return sql`
    select account_id, span, template_id, begins, ${packSteps} as histogram
    from (
      select account_id, s.span, s.template as template_id, s.begins, step, sum(count) as count from ${latencies} as t
      cross join lateral (values
        ('quarter', '', quarter), ('day', '', ${day}), ('day', template_id, ${day})) as s (span, template, begins)
      where span = any (${spans}::text[])
      group by 1, 2, 3, 4, 5) as steps
    group by 1, 2, 3, 4`;
}

/** Data-modifying CTEs that add the totals to their sums. Rows go in key order. */
function addSums(from: ReportTotals, spans: readonly Span[]) {
  return sql`
    sums as (
      insert into report_sum (account_id, span, sum_of, key, tag, begins, ${columns})
      ${sumRows(from, spans)} order by 1, 2, 3, 4, 5, 6
      on conflict (account_id, span, sum_of, key, tag, begins) do update set ${added('report_sum')}),
    latency_sums as (
      insert into report_latency_sum (account_id, span, template_id, begins, histogram)
      ${latencySumRows(from, spans)} order by 1, 2, 3, 4
      on conflict (account_id, span, template_id, begins) do update
      set histogram = ${sumHistograms(sql`report_latency_sum.histogram`, sql`excluded.histogram`)})`;
}

const dayMs = 24 * 60 * 60 * 1_000;

/** Recomputes an account's sums for a time range. Partially covered days are recomputed in full. */
async function rebuildSums(
  transaction: Kysely,
  accountId: AccountId,
  from: Date,
  until: Date,
): Promise<void> {
  const firstDay = new Date(Math.floor(from.getTime() / dayMs) * dayMs);
  const lastDay = new Date(Math.ceil(until.getTime() / dayMs) * dayMs);
  for (const [span, begin, end] of [
    ['quarter', from, until],
    ['day', firstDay, lastDay],
  ] as const) {
    for (const table of ['report_sum', 'report_latency_sum'])
      await run(transaction)`
        delete from ${sql.table(table)}
        where account_id = ${accountId} and span = ${span} and begins >= ${begin} and begins < ${end}`;
    const of = (table: string) => sql`
      (select * from ${sql.table(table)}
       where account_id = ${accountId} and quarter >= ${begin} and quarter < ${end})`;
    const totals = {
      totals: of('report_total'),
      locales: of('report_locale'),
      destinations: of('report_destination'),
      latencies: sql`
        (select account_id, quarter, template_id, step, count
         from ${of('report_latency')} as packed cross join lateral (${unpackSteps(sql`histogram`)}) as steps)`,
    };
    await run(transaction)`with ${addSums(totals, [span])} select 1`;
  }
}
