import { sql } from 'kysely';
import type { Database } from '../../src/foundation/database/open-database.ts';
import { reportColumns } from '../../src/message/event-kinds.ts';
import { packSteps } from '../../src/report/histogram-store.ts';
import { latencySumRows, sumRows } from '../../src/report/report-sums-store.ts';
import { totalsOf } from '../../src/report/roll-up-store.ts';
import { clearTable, createIndexes, readIndexes } from './bulk-partitions.ts';

type Kysely = Database['kysely'];

const columns = sql.join(reportColumns.map((name) => sql.ref(name)));
const sums = sql.join(reportColumns.map((name) => sql`sum(${sql.ref(name)})`));

/** One row for each thing that reports count, as the roll-up finds them in messages and events. */
const facts = sql`
  select account_id, date_bin('15 minutes', accepted_at, '2000-01-01') as quarter, template_id,
    coalesce(tag, '') as tag, 'shop.test' as sender_domain, domain as destination_domain, 'accepted' as kind,
    null::text as class, false as hard, false as first, null::float8 as took
  from draft cross join lateral (values (to_domain), (case when cc_address is not null then 'team.test' end)) as r (domain)
  where domain is not null
  union all
  select d.account_id, date_bin('15 minutes', e.at, '2000-01-01'), d.template_id, coalesce(d.tag, ''), 'shop.test',
    case when e.recipient = 1 then 'team.test' else d.to_domain end, e.kind,
    case when e.class = 'person' then 'people' when e.class is not null then 'machines' end,
    e.kind = 'bounced' and n % 3 <> 0, e.class is not null and e.place = 0,
    case when e.kind = 'delivered' and e.recipient = 0 then extract(epoch from e.at - d.accepted_at) * 1000 end
  from draft_event e join draft d using (n)`;

/** Makes the tables that weeks leave their totals in. Those of neighbouring weeks overlap. */
export async function createStagingTables(kysely: Kysely): Promise<void> {
  for (const table of ['report_total', 'report_destination'])
    await sql`create unlogged table ${sql.table(`staged_${table}`)} (like ${sql.table(table)})`.execute(
      kysely,
    );
  await sql`
    create unlogged table staged_report_latency (
      account_id text, quarter timestamptz, template_id text, step integer, count integer)`.execute(
    kysely,
  );
}

/** Leaves the totals of the week that is drafted. */
export async function stageTotals(transaction: Kysely): Promise<void> {
  await sql`
    with ${totalsOf(facts)},
    totals as (
      insert into staged_report_total (account_id, quarter, template_id, tag, sender_domain, ${columns})
      select account_id, quarter, template_id, tag, sender_domain, ${columns} from total),
    destinations as (
      insert into staged_report_destination (account_id, quarter, destination_domain, ${columns})
      select account_id, quarter, destination_domain, ${columns} from destination)
    insert into staged_report_latency (account_id, quarter, template_id, step, count)
    select account_id, quarter, template_id, step, count from latency`.execute(transaction);
}

/** The summed steps of all weeks. */
const steps = sql`(
  select account_id, quarter, template_id, step, sum(count) as count from staged_report_latency group by 1, 2, 3, 4)`;

const dayOf = (time: string) => sql`date_bin('1 day', ${sql.raw(time)}, '2000-01-01 00:00Z')`;

/**
 * Adds what the weeks left up to the tables that reports are read from, a day's rows in the order of what reports read
 * together, and drops it.
 */
export async function writeTotals(kysely: Kysely): Promise<void> {
  const total = sql`account_id, quarter, template_id, tag, sender_domain`;
  const destination = sql`account_id, quarter, destination_domain`;
  await fill(
    kysely,
    'report_total',
    sql`
    (${total}, ${columns}) select ${total}, ${sums} from staged_report_total group by 1, 2, 3, 4, 5
    order by ${dayOf('quarter')}, 1, 3, 4, 5, 2`,
  );
  await fill(
    kysely,
    'report_destination',
    sql`
    (${destination}, ${columns}) select ${destination}, ${sums} from staged_report_destination group by 1, 2, 3
    order by ${dayOf('quarter')}, 1, 3, 2`,
  );
  await fill(
    kysely,
    'report_latency',
    sql`
    (account_id, quarter, template_id, histogram) select account_id, quarter, template_id, ${packSteps}
    from ${steps} as steps group by 1, 2, 3 order by ${dayOf('quarter')}, 1, 3, 2`,
  );
  const from = {
    totals: sql`report_total`,
    destinations: sql`report_destination`,
    latencies: steps,
  };
  const spans = ['quarter', 'day'] as const;
  await fill(
    kysely,
    'report_sum',
    sql`
    (account_id, span, sum_of, key, tag, begins, ${columns}) ${sumRows(from, spans)}
    order by ${dayOf('begins')}, 1, 2, 3, 4, 5, 6`,
  );
  await fill(
    kysely,
    'report_latency_sum',
    sql`
    (account_id, span, template_id, begins, histogram) ${latencySumRows(from, spans)}
    order by ${dayOf('begins')}, 1, 2, 3, 4`,
  );
  await sql`
    insert into report_ordered (account_id, until)
    select account_id, ${dayOf('max(quarter)')} from report_total group by 1`.execute(kysely);
  await sql`drop table staged_report_total, staged_report_destination, staged_report_latency`.execute(
    kysely,
  );
}

async function fill(kysely: Kysely, table: string, rows: ReturnType<typeof sql>): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    await sql`set local maintenance_work_mem = '512MB'`.execute(transaction);
    await sql`set local work_mem = '768MB'`.execute(transaction);
    await sql`set local hash_mem_multiplier = 2`.execute(transaction);
    // Without looking up the account of each row, which only a superuser may.
    await sql`
      select set_config('session_replication_role', 'replica', true)
      from pg_roles where rolname = current_user and rolsuper`.execute(transaction);
    const indexes = await readIndexes(transaction, table);
    await clearTable(transaction, table);
    await sql`insert into ${sql.table(table)} ${rows}`.execute(transaction);
    await createIndexes(transaction, indexes);
  });
  await sql`vacuum (analyze) ${sql.table(table)}`.execute(kysely);
}
