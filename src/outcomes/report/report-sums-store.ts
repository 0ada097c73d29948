import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../base/database/open-database.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { reportColumns } from '../../content/message/event-kinds.ts';
import { packSteps, sumHistograms, unpackSteps } from './histogram-store.ts';

type Kysely = Database['kysely'];

const columns = sql.join(reportColumns.map((name) => sql.ref(name)));
const sums = sql.join(reportColumns.map((name) => sql`sum(${sql.ref(name)})`));
const added = sql.join(
  reportColumns.map(
    (name) =>
      sql`${sql.ref(name)} = ${sql.ref(`report_sum.${name}`)} + ${sql.ref(`excluded.${name}`)}`,
  ),
);

const day = sql`date_bin('1 day', quarter, '2000-01-01 00:00Z')`;

/**
 * Relations with the columns of `report_total`, `report_locale` and `report_destination`, and of `report_latency` with one row per step.
 */
export interface ReportTotals {
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
export function addSums(from: ReportTotals, spans: readonly Span[]) {
  return sql`
    sums as (
      insert into report_sum (account_id, span, sum_of, key, tag, begins, ${columns})
      ${sumRows(from, spans)} order by 1, 2, 3, 4, 5, 6
      on conflict (account_id, span, sum_of, key, tag, begins) do update set ${added}),
    latency_sums as (
      insert into report_latency_sum (account_id, span, template_id, begins, histogram)
      ${latencySumRows(from, spans)} order by 1, 2, 3, 4
      on conflict (account_id, span, template_id, begins) do update
      set histogram = ${sumHistograms(sql`report_latency_sum.histogram`, sql`excluded.histogram`)})`;
}

const dayMs = 24 * 60 * 60 * 1_000;

/** Recomputes an account's sums for a time range. Partially covered days are recomputed in full. */
export async function rebuildSums(
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
      await sql`
        delete from ${sql.table(table)}
        where account_id = ${accountId} and span = ${span} and begins >= ${begin} and begins < ${end}`.execute(
        transaction,
      );
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
    await sql`with ${addSums(totals, [span])} select 1`.execute(transaction);
  }
}
