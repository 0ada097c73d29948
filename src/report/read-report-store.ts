import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import { type Latency, latencyOf } from './latency.ts';
import { type ReportCounts, reportColumns } from './report-columns.ts';
import type { ReportQuery } from './report-query.ts';
import { isTime, latencySource, reportSource } from './report-source-store.ts';

type Kysely = Database['kysely'];

export interface ReportRow {
  /** Template, tag or domain; for hours and days their begin as local time, such as `2026-11-20T09:00`; empty for `none`. */
  readonly key: string;
  readonly counts: ReportCounts;
  /** Only of reports by nothing, time or template; undefined where nothing was delivered. */
  readonly latency: Latency | undefined;
}

/** Rows of a report; at most `mostRows`, those with the most messages of destinations and tags. */
export async function readReport(
  kysely: Kysely,
  accountId: AccountId,
  query: ReportQuery,
): Promise<ReportRow[]> {
  const columns = sql.join(reportColumns.map((name) => sql.ref(name)));
  const sums = sql.join(
    reportColumns.map((name) => sql`sum(${sql.ref(name)})::int as ${sql.ref(name)}`),
  );
  // Quarters are summed up before they are named, since naming a time costs more than adding.
  const raw = isTime(query) ? sql`begins` : sql`key`;
  const reading = sql<ReportCounts & { key: string }>`
    select * from (
      select ${keyOf(query)} as key, ${sums} from (
        select ${raw} as raw, ${sums} from (${reportSource(accountId, query, columns)}) as source
        group by 1) as summed
      group by 1 order by ${isTime(query) ? sql`1` : sql`sum(accepted) desc`} limit ${mostRows}) as found
    order by key`.execute(kysely);
  const [{ rows }, latencies] = await Promise.all([
    reading,
    readLatencies(kysely, accountId, query),
  ]);
  return rows.map(({ key: name, ...counts }) => ({
    key: name,
    counts,
    latency: latencyOf(latencies?.get(name) ?? []),
  }));
}

export const mostRows = 10_000;

async function readLatencies(
  kysely: Kysely,
  accountId: AccountId,
  query: ReportQuery,
): Promise<Map<string, { step: number; count: number }[]> | undefined> {
  const source = latencySource(accountId, query);
  if (source === undefined) return undefined;
  // Each quarter is named once, not once for each of its steps.
  const { rows } = await sql<{ key: string; step: number; count: number }>`
    with source as materialized (${source}),
    named as (
      select raw, ${keyOf(query)} as key
      from (select distinct ${isTime(query) ? sql`begins` : sql`key`} as raw from source) as each)
    select named.key, step, sum(count)::int as count
    from source join named on named.raw = ${isTime(query) ? sql`source.begins` : sql`source.key`}
    group by 1, 2`.execute(kysely);
  return Map.groupBy(rows, (row) => row.key);
}

/** The key of summed rows: hours and days begin at a local time. */
function keyOf(query: ReportQuery): RawBuilder<string> {
  if (!isTime(query)) return sql`raw`;
  const { group, timeZone } = query;
  return sql`to_char(date_trunc(${sql.lit(group)}, raw at time zone ${sql.lit(timeZone)}), 'YYYY-MM-DD"T"HH24:MI')`;
}
