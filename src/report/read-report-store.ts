import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import { type Latency, latencyOf } from './latency.ts';
import { type ReportCounts, reportColumns } from './report-columns.ts';

type Kysely = Database['kysely'];

/** What the rows of a report are. */
export const reportGroups = [
  'none',
  'hour',
  'day',
  'template',
  'tag',
  'sender',
  'destination',
] as const;
export type ReportGroup = (typeof reportGroups)[number];

export interface ReportQuery {
  readonly from: Date;
  readonly until: Date;
  readonly group: ReportGroup;
  /** Of days and hours, such as `Europe/Berlin`. */
  readonly timeZone: string;
  readonly templateId?: string | undefined;
  readonly tag?: string | undefined;
  readonly senderDomain?: string | undefined;
  /** Not together with the filters above: destinations are counted by themselves. */
  readonly destinationDomain?: string | undefined;
}

export interface ReportRow {
  /** Template, tag or domain; for hours and days their begin as local time, such as `2026-11-20T09:00`; empty for `none`. */
  readonly key: string;
  readonly counts: ReportCounts;
  /** Only of reports by nothing, time or template; undefined where nothing was delivered. */
  readonly latency: Latency | undefined;
}

/** True for a time zone that can be counted in. */
export function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return /^[A-Za-z][\w+/-]{1,50}$/.test(text);
  } catch {
    return false;
  }
}

/** Rows of a report; at most `mostRows`, those with the most messages of destinations and tags. */
export async function readReport(
  kysely: Kysely,
  accountId: AccountId,
  query: ReportQuery,
): Promise<ReportRow[]> {
  const byDestination = query.group === 'destination' || query.destinationDomain !== undefined;
  const table = byDestination ? 'report_destination' : 'report_total';
  const sums = sql.join(
    reportColumns.map((name) => sql`sum(${sql.ref(name)})::int as ${sql.ref(name)}`),
  );
  // Quarters are summed up before they are named, since naming a time costs more than adding.
  const raw = isTime(query.group) ? sql`quarter` : keyOf(query.group, query.timeZone);
  const key = isTime(query.group) ? keyOf(query.group, query.timeZone, sql`raw`) : sql`raw`;
  const reading = sql<ReportCounts & { key: string }>`
    select * from (
      select ${key} as key, ${sums} from (
        select ${raw} as raw, ${sums} from ${sql.table(table)}
        where account_id = ${accountId} and quarter >= ${query.from} and quarter < ${query.until}
          and ${byDestination ? is('destination_domain', query.destinationDomain) : filters(query)}
        group by 1) as summed
      group by 1 order by ${isTime(query.group) ? sql`1` : sql`sum(accepted) desc`} limit ${mostRows}) as found
    order by key`.execute(kysely);
  const [{ rows }, latencies] = await Promise.all([
    reading,
    byDestination ? undefined : readLatencies(kysely, accountId, query),
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
  const countable = query.tag === undefined && query.senderDomain === undefined;
  if (!countable || query.group === 'tag' || query.group === 'sender') return undefined;
  const { rows } = await sql<{ key: string; step: number; count: number }>`
    select ${isTime(query.group) ? keyOf(query.group, query.timeZone, sql`raw`) : sql`raw`} as key, step,
      sum(count)::int as count
    from (
      select ${isTime(query.group) ? sql`quarter` : keyOf(query.group, query.timeZone)} as raw, step, sum(count)::int as count
      from report_latency
      where account_id = ${accountId} and quarter >= ${query.from} and quarter < ${query.until}
        and ${is('template_id', query.templateId)}
      group by 1, 2) as summed
    group by 1, 2`.execute(kysely);
  return Map.groupBy(rows, (row) => row.key);
}

function keyOf(
  group: ReportGroup,
  timeZone: string,
  time: RawBuilder<unknown> = sql`quarter`,
): RawBuilder<string> {
  switch (group) {
    case 'none':
      return sql`''`;
    case 'hour':
    case 'day':
      return sql`to_char(date_trunc(${sql.lit(group)}, ${time} at time zone ${sql.lit(timeZone)}), 'YYYY-MM-DD"T"HH24:MI')`;
    case 'template':
      return sql`template_id`;
    case 'tag':
      return sql`tag`;
    case 'sender':
      return sql`sender_domain`;
    case 'destination':
      return sql`destination_domain`;
  }
}

function isTime(group: ReportGroup): boolean {
  return group === 'hour' || group === 'day';
}

function filters(query: ReportQuery): RawBuilder<unknown> {
  return sql`${is('template_id', query.templateId)} and ${is('tag', query.tag)}
    and ${is('sender_domain', query.senderDomain)}`;
}

function is(column: string, value: string | undefined): RawBuilder<unknown> {
  return value === undefined ? sql`true` : sql`${sql.ref(column)} = ${value}`;
}
