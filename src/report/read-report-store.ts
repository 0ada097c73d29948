import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import {
  type ReportColumn,
  type ReportColumnCounts,
  reportColumns,
} from '../message/event-kinds.ts';
import { addHistograms, type LatencyPercentiles, latencyOf } from './latency.ts';
import type { ReportQuery } from './report-query.ts';
import { isByLocale, isTimeGrouping, latencySource, reportSource } from './report-source-store.ts';

type Kysely = Database['kysely'];

export interface ReportResultRow {
  /**
   * Template, locale, tag or domain. For hours and days, the local start time, such as `2026-11-20T09:00`; empty for `none`.
   */
  readonly key: string;
  readonly counts: ReportColumnCounts;
  /** Only for reports by time, by template or ungrouped; undefined if nothing was delivered. */
  readonly latency: LatencyPercentiles | undefined;
}

/** Rows of a report, up to `maxReportRows`. Groups other than time keep the rows with the most messages. */
export async function readReport(
  kysely: Kysely,
  accountId: AccountId,
  query: ReportQuery,
): Promise<ReportResultRow[]> {
  const columns = sql.join(reportColumns.map((name) => sql.ref(name)));
  const sums = sql.join(
    reportColumns.map((name) => sql`sum(${sql.ref(name)}) as ${sql.ref(name)}`),
  );
  // A subtraction can leave nothing.
  const counted = sql`having greatest(${sql.join(reportColumns.map((name) => sql`sum(${sql.ref(name)})`))}) > 0`;
  const counts = sql<{ key: string; counts: readonly number[] }>`
    select key, counts from (
      select ${nameOf(query)} as key, accepted, to_json(array[${columns}]) as counts from (
        select ${keyOf(query)} as raw, ${sums} from (${reportSource(accountId, query)}) as source
        group by 1 ${isByLocale(query) ? counted : sql``}) as summed
      order by ${isTimeGrouping(query) ? sql`raw` : sql`accepted desc`} limit ${maxReportRows}) as found
    order by key`;
  const [{ rows }, latencies] = isLong(query)
    ? await Promise.all([counts.execute(kysely), readLatencies(kysely, accountId, query)])
    : [await counts.execute(kysely), await readLatencies(kysely, accountId, query)];
  return rows.map((row) => ({
    key: row.key,
    counts: countsOf(row.counts),
    latency: latencyOf(addHistograms(latencies?.get(row.key) ?? noHistogram)),
  }));
}

/**
 * True if both queries read so many rows that reading at the same time is worth a second connection, which often has to
 * be opened.
 */
function isLong({ group, from, until }: ReportQuery): boolean {
  return group === 'hour' && until.getTime() - from.getTime() > 31 * 24 * 60 * 60 * 1_000;
}

/** @param numbers in column order; reading one array takes a tenth of the time of separate columns */
function countsOf(numbers: readonly number[]): ReportColumnCounts {
  const counts = {} as Record<ReportColumn, number>;
  for (const [index, name] of reportColumns.entries()) counts[name] = numbers[index] ?? 0;
  return counts;
}

const maxReportRows = 10_000;
const noHistogram = Buffer.alloc(0);

async function readLatencies(
  kysely: Kysely,
  accountId: AccountId,
  query: ReportQuery,
): Promise<Map<string, Buffer> | undefined> {
  const source = latencySource(accountId, query);
  if (source === undefined) return undefined;
  const { rows } = await sql<{ key: string; histograms: Buffer }>`
    select ${nameOf(query)} as key, histograms from (
      select ${keyOf(query)} as raw, string_agg(histogram, ''::bytea) as histograms
      from (${source}) as source
      group by 1) as summed`.execute(kysely);
  return new Map(rows.map(({ key, histograms }) => [key, histograms]));
}

/** The grouping key. Hours and days start at local time. */
function keyOf(query: ReportQuery): RawBuilder<unknown> {
  if (!isTimeGrouping(query)) return sql`key`;
  const { group, timeZone } = query;
  return sql`date_trunc(${sql.lit(group)}, begins at time zone ${sql.lit(timeZone)})`;
}

/** Display name of a key. Computed once per row because formatting a time costs more than summing. */
function nameOf(query: ReportQuery): RawBuilder<string> {
  return isTimeGrouping(query) ? sql`to_char(raw, 'YYYY-MM-DD"T"HH24:MI')` : sql`raw`;
}
