import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import {
  type ReportColumn,
  type ReportColumnCounts,
  reportColumns,
} from '../../content/message/event-kinds.ts';
import { firstWaitStep } from './histogram-store.ts';
import { addHistograms, type LatencyPercentiles, type LatencyStep, latencyOf } from './latency.ts';
import type { ReportQuery } from './report-query.ts';
import { isByLocale, isTimeGrouping, latencySource, reportSource } from './report-source-store.ts';

export interface ReportResultRow {
  /**
   * Template, locale, tag or domain. For hours and days, the local start time, such as `2026-11-20T09:00`, with its offset from
   * UTC if clocks show the hour twice, such as `2026-10-25T02:00+01:00`; empty for `none`.
   */
  readonly key: string;
  readonly counts: ReportColumnCounts;
  /** Only for reports by time, by template or ungrouped; undefined if nothing was delivered. */
  readonly latency: LatencyPercentiles | undefined;
  /** From delivery until a person used the guarded link; like `latency`. */
  readonly linkWait: LinkWait | undefined;
}

/** Percentiles, and of how many links. */
interface LinkWait extends LatencyPercentiles {
  readonly count: number;
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
      select ${nameOf(query)} as key, raw, accepted, to_json(array[${columns}]) as counts from (
        select ${keyOf(query)} as raw, ${sums} from (${reportSource(accountId, query)}) as source
        group by 1 ${isByLocale(query) ? counted : sql``}) as summed
      order by ${isTimeGrouping(query) ? sql`raw` : sql`accepted desc`} limit ${maxReportRows}) as found
    order by ${isTimeGrouping(query) ? sql`raw` : sql`key`}`;
  const [{ rows }, latencies] = isLong(query)
    ? await Promise.all([counts.execute(kysely), readLatencies(kysely, accountId, query)])
    : [await counts.execute(kysely), await readLatencies(kysely, accountId, query)];
  return rows.map((row) => {
    const steps = addHistograms(latencies?.get(row.key) ?? noHistogram);
    const latency = latencyOf(steps.filter(({ step }) => step < firstWaitStep));
    return { key: row.key, counts: countsOf(row.counts), latency, linkWait: linkWaitOf(steps) };
  });
}

function linkWaitOf(steps: readonly LatencyStep[]): LinkWait | undefined {
  const waits = steps.filter(({ step }) => step >= firstWaitStep);
  const times = latencyOf(waits.map(({ step, count }) => ({ step: step - firstWaitStep, count })));
  return times && { count: waits.reduce((sum, { count }) => sum + count, 0), ...times };
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
  report: ReportQuery,
): Promise<Map<string, Buffer> | undefined> {
  const source = latencySource(accountId, report);
  if (source === undefined) return undefined;
  const rows = await allRows<{ key: string; histograms: Buffer }>(kysely)`
    select ${nameOf(report)} as key, histograms from (
      select ${keyOf(report)} as raw, string_agg(histogram, ''::bytea) as histograms
      from (${source}) as source
      group by 1) as summed`;
  return new Map(rows.map(({ key, histograms }) => [key, histograms]));
}

/** The grouping key. Hours and days start at local time; an hour is a moment, because clocks that go back show it twice. */
function keyOf({ group, timeZone }: ReportQuery): RawBuilder<unknown> {
  if (group === 'hour') return sql`date_trunc('hour', begins, ${sql.lit(timeZone)})`;
  if (group === 'day') return sql`date_trunc('day', begins at time zone ${sql.lit(timeZone)})`;
  return sql`key`;
}

/** Display name of a key. Computed once per row because formatting a time costs more than summing. */
function nameOf({ group, timeZone }: ReportQuery): RawBuilder<string> {
  if (group === 'day') return sql`to_char(raw, 'YYYY-MM-DD"T"HH24:MI')`;
  if (group !== 'hour') return sql`raw`;
  const zone = sql.lit(timeZone);
  const local = (at: RawBuilder<unknown>) => sql`(${at} at time zone ${zone})`;
  const offset = sql`${local(sql`raw`)} - (raw at time zone 'UTC')`;
  return sql`to_char(${local(sql`raw`)}, 'YYYY-MM-DD"T"HH24:MI')
    || case when ${local(sql`raw`)} in (${local(sql`(raw - interval '1 hour')`)}, ${local(sql`(raw + interval '1 hour')`)})
      then case when ${offset} < interval '0' then '' else '+' end || to_char(${offset}, 'HH24:MI') else '' end`;
}
