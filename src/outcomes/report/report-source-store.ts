import { type RawBuilder, sql } from 'kysely';
import type { AccountId } from '../../base/values/ids.ts';
import { reportColumns } from '../../content/message/event-kinds.ts';
import { defaultContent, type ReportQuery } from './report-query.ts';

/** Totals to sum: `key` and `begins` of each, plus the named columns. */
export type ReportSource = RawBuilder<unknown>;

interface Span {
  readonly from: Date;
  readonly until: Date;
}

const dayMs = 24 * 60 * 60 * 1_000;

/** True if each row is an hour or a day. */
export function isTimeGrouping({ group }: ReportQuery): boolean {
  return group === 'hour' || group === 'day';
}

/** True if the report tells locales apart. */
export function isByLocale({ group, locale }: ReportQuery): boolean {
  return group === 'locale' || locale !== undefined;
}

/** Totals for a query. The default content of templates is what remains of all totals without those of variants. */
export function reportSource(accountId: AccountId, query: ReportQuery): ReportSource {
  if (!isByLocale(query)) return readTotals(accountId, query);
  const { locale, ...rest } = query;
  const variants = () => readTotals(accountId, { ...query, counts: 'variants' });
  if (locale !== undefined && locale !== defaultContent) return variants();
  const byLocale = query.group === 'locale';
  const shown = byLocale ? sql`${sql.lit(defaultContent)}` : undefined;
  const all = { ...rest, group: byLocale ? 'none' : query.group, shown } as const;
  const parts = [
    readTotals(accountId, all),
    readTotals(accountId, { ...all, counts: 'variants', negative: true }),
    ...(locale === undefined ? [variants()] : []),
  ];
  return sql.join(parts, sql` union all `);
}

/** What a part of a report reads. */
interface TotalsQuery extends ReportQuery {
  /** Absent: everything. */
  readonly counts?: 'variants';
  readonly negative?: true;
  /** Replaces the key. */
  readonly shown?: RawBuilder<unknown> | undefined;
}

/**
 * Totals, read from the smallest index ranges: daily sums for whole UTC days, quarter hours for the rest. Hours and days
 * in another time zone use quarter hours only.
 */
function readTotals(accountId: AccountId, query: TotalsQuery): ReportSource {
  const sum = sumOf(query);
  const columns = sql.join(
    reportColumns.map((name) =>
      query.negative ? sql`-${sql.ref(name)} as ${sql.ref(name)}` : sql.ref(name),
    ),
  );
  const read =
    (table: string, begins: string, key: RawBuilder<unknown>, where: RawBuilder<unknown>) =>
    (span: Span) =>
      sql`
      select ${query.shown ?? key} as key, ${sql.ref(begins)} as begins, ${columns} from ${sql.table(table)}
      where account_id = ${accountId} and ${sql.ref(begins)} >= ${span.from} and ${sql.ref(begins)} < ${span.until}
        and ${where}`;
  const quarters =
    sum === undefined || sum.quarters === false
      ? read(tableOf(query), 'quarter', keyOf(query), filters(query))
      : read('report_sum', 'begins', sum.shown, sql`span = 'quarter' and ${sum.where}`);
  if (sum === undefined || isTimeGrouping(query)) return quarters(query);
  const days = read('report_sum', 'begins', sum.shown, sql`span = 'day' and ${sum.where}`);
  return inSpans(query, days, quarters);
}

/** Times to delivery, grouped by template if the query is; undefined if they don't cover the query. */
export function latencySource(accountId: AccountId, query: ReportQuery): ReportSource | undefined {
  if (isByLocale(query)) return undefined;
  const { group, templateId } = query;
  const others = [query.tag, query.senderDomain, query.destinationDomain];
  if (others.some((filter) => filter !== undefined)) return undefined;
  if (group === 'tag' || group === 'sender' || group === 'destination') return undefined;
  const byTemplate = templateId !== undefined || group === 'template';
  const key = group === 'template' ? sql`template_id` : sql`''`;
  const matches = templateId === undefined ? sql`true` : sql`template_id = ${templateId}`;
  const sums = (name: 'quarter' | 'day', span: Span) => sql`
    select ${key} as key, begins, histogram from report_latency_sum
    where account_id = ${accountId} and span = ${name} and begins >= ${span.from} and begins < ${span.until}
      and ${byTemplate ? sql`template_id <> '' and ${matches}` : sql`template_id = ''`}`;
  const quarters = (span: Span) =>
    byTemplate
      ? sql`
        select ${key} as key, quarter as begins, histogram from report_latency
        where account_id = ${accountId} and quarter >= ${span.from} and quarter < ${span.until} and ${matches}`
      : sums('quarter', span);
  return isTimeGrouping(query)
    ? quarters(query)
    : inSpans(query, (span) => sums('day', span), quarters);
}

/** Whole days in the middle, quarter hours at both ends. */
function inSpans(
  { from, until }: Span,
  days: (span: Span) => RawBuilder<unknown>,
  quarters: (span: Span) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const firstDay = new Date(Math.ceil(from.getTime() / dayMs) * dayMs);
  const lastDay = new Date(Math.floor(until.getTime() / dayMs) * dayMs);
  if (firstDay >= lastDay) return quarters({ from, until });
  const parts = [
    quarters({ from, until: firstDay }),
    days({ from: firstDay, until: lastDay }),
    quarters({ from: lastDay, until }),
  ];
  return sql.join(parts, sql` union all `);
}

interface Sum {
  /** Value shown as the row's key. */
  readonly shown: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
  /** False if only daily sums exist. */
  readonly quarters?: false;
}

/** The sum that covers a query; undefined if it combines too many filters. */
function sumOf(query: TotalsQuery): Sum | undefined {
  const { group, templateId, locale, tag, senderDomain, destinationDomain, counts } = query;
  const named = new Map<string, string | undefined>();
  if (group === 'template' || group === 'tag' || group === 'sender' || group === 'destination')
    named.set(group, undefined);
  if (counts === 'variants') named.set('locale', undefined);
  const given = {
    template: templateId,
    locale,
    tag,
    sender: senderDomain,
    destination: destinationDomain,
  };
  for (const [name, value] of Object.entries(given))
    if (value !== undefined) named.set(name, value);
  const names = [...named.keys()].sort().join(' ');
  if (names === '') return { shown: sql`''`, where: sql`sum_of = 'all' and key = '' and tag = ''` };
  const second =
    names === 'locale template' ? 'locale' : names === 'tag template' ? 'tag' : undefined;
  if (second !== undefined) {
    return {
      shown: group === 'template' ? sql`key` : group === second ? sql`tag` : sql`''`,
      where: sql`sum_of = ${sql.lit(`template_${second}`)} and ${equals('key', templateId)} and ${equals('tag', given[second])}`,
      quarters: false,
    };
  }
  if (named.size > 1) return undefined;
  const shown = named.has(group) ? sql`key` : sql`''`;
  const where = sql`sum_of = ${names} and ${equals('key', named.get(names))} and tag = ''`;
  return names === 'destination' ? { shown, where, quarters: false } : { shown, where };
}

function tableOf(query: TotalsQuery): string {
  if (query.counts === 'variants') return 'report_locale';
  return query.group === 'destination' || query.destinationDomain !== undefined
    ? 'report_destination'
    : 'report_total';
}

const keyColumns: ReadonlyMap<string, string> = new Map([
  ['template', 'template_id'],
  ['locale', 'locale'],
  ['tag', 'tag'],
  ['sender', 'sender_domain'],
  ['destination', 'destination_domain'],
]);

function keyOf({ group }: ReportQuery): RawBuilder<unknown> {
  const column = keyColumns.get(group);
  return column === undefined ? sql`''` : sql.ref(column);
}

function filters(query: TotalsQuery): RawBuilder<unknown> {
  if (query.counts === 'variants')
    return sql`${equals('template_id', query.templateId)} and ${equals('locale', query.locale)}`;
  if (tableOf(query) === 'report_destination')
    return equals('destination_domain', query.destinationDomain);
  return sql`${equals('template_id', query.templateId)} and ${equals('tag', query.tag)}
    and ${equals('sender_domain', query.senderDomain)}`;
}

function equals(column: string, value: string | undefined): RawBuilder<unknown> {
  return value === undefined ? sql`true` : sql`${sql.ref(column)} = ${value}`;
}
