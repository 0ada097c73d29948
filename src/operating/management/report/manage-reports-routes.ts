import { type Static, type TInteger, Type } from 'typebox';
import {
  NamedObject,
  Nullable,
  optional,
  StrictObject,
  strict,
  Text,
  TimeOrDay,
} from '../../../base/values/common-schemas.ts';
import { type ReportColumn, reportColumns } from '../../../content/message/event-kinds.ts';
import { maxLocaleLength } from '../../../content/template/locale.ts';
import { type ReportResultRow, readReport } from '../../../outcomes/report/read-report-store.ts';
import { reportCsv } from '../../../outcomes/report/report-csv.ts';
import {
  defaultContent,
  parseTimeZone,
  type ReportQuery,
  reportGroups,
} from '../../../outcomes/report/report-query.ts';
import { invalidField } from '../answer/problem.ts';
import { readOptionalLocale, readTime } from '../answer/read-query.ts';
import { sendExport } from '../answer/send-download.ts';
import { defineOperation, type OperationCall } from '../operation.ts';

const query = StrictObject({
  from: TimeOrDay('Accepted at or after this time.'),
  until: TimeOrDay('Accepted before this time.'),
  ...optional({
    group: Type.Enum([...reportGroups], {
      description: 'What to group rows by. Default `none`: a single row.',
    }),
    timeZone: Text(
      'Time zone of days and hours, such as Europe/Berlin. Default UTC. The name of an hour that its clocks show twice ends with the offset, as in 2026-10-25T02:00+01:00.',
      { maxLength: 64 },
    ),
    templateId: Type.String({ maxLength: 64 }),
    locale: Text(
      'Locale of the variant that was sent, such as `de`; `default`: the template’s own content. Can’t be combined with tag, sender and destination.',
      { maxLength: maxLocaleLength },
    ),
    tag: Type.String({ maxLength: 48 }),
    senderDomain: Type.String({ maxLength: 253 }),
    destinationDomain: Text('Can’t be combined with the other filters.', { maxLength: 253 }),
  }),
});

function toReportQuery(params: Static<typeof query>): ReportQuery {
  const { group = 'none', from, until, ...filters } = params;
  const locale =
    filters.locale === defaultContent ? defaultContent : readOptionalLocale(filters.locale);
  const timeZone = parseTimeZone(params.timeZone ?? 'UTC');
  if (timeZone === undefined)
    throw invalidField('timeZone', 'must be a time zone such as Europe/Berlin');
  const others = [filters.templateId, locale, filters.tag, filters.senderDomain];
  const byDestination = group === 'destination' || filters.destinationDomain !== undefined;
  if (byDestination && others.some((value) => value !== undefined))
    throw invalidField(
      filters.destinationDomain === undefined ? 'group' : 'destinationDomain',
      'can’t be combined with template, locale, tag or sender filters, because destinations are counted separately',
    );
  const byLocale = group === 'locale' || locale !== undefined;
  const bySender = [filters.tag, filters.senderDomain, filters.destinationDomain].some(
    (value) => value !== undefined,
  );
  if (byLocale && (bySender || group === 'tag' || group === 'sender'))
    throw invalidField(
      group === 'locale' ? 'group' : 'locale',
      'can’t be combined with tags, senders or destinations, because locales are counted by template',
    );
  return {
    ...filters,
    locale,
    group,
    timeZone,
    from: readTime('from', from),
    until: readTime('until', until),
  };
}

const Counts = NamedObject(
  'ReportCounts',
  Object.fromEntries(reportColumns.map((name) => [name, Type.Integer()])) as Record<
    ReportColumn,
    TInteger
  >,
);

const percentiles = { p50: Type.Integer(), p95: Type.Integer(), p99: Type.Integer() };

const ReportView = NamedObject('Report', {
  rows: Type.Array(
    NamedObject('ReportRow', {
      key: Text('Template, locale, tag or domain; for hours and days, their start in local time.'),
      counts: Counts,
      latency: Nullable(
        Type.Object(percentiles, {
          ...strict,
          title: 'Latency',
          description: 'Milliseconds to delivery; null if nothing was delivered.',
        }),
      ),
      linkWait: Nullable(
        Type.Object(
          { count: Type.Integer(), ...percentiles },
          {
            ...strict,
            title: 'LinkWait',
            description:
              'Milliseconds from delivery until a person used a guarded link, and of how many links; null if none was used.',
          },
        ),
      ),
    }),
  ),
});

function readRows(call: OperationCall<Static<typeof query>>): Promise<ReportResultRow[]> {
  const { kysely } = call;
  return readReport(kysely, call.params.accountId, toReportQuery(call.query));
}

export const getReport = defineOperation({
  id: 'getReport',
  summary: 'Get a delivery report',
  description: 'Counts lag events by about a second.',
  query,
  answer: ReportView,
  async handle(call) {
    const rows = await readRows(call);
    return {
      rows: rows.map(({ latency = null, linkWait = null, ...row }) => ({
        ...row,
        latency,
        linkWait,
      })),
    };
  },
});

export const exportReport = defineOperation({
  id: 'exportReport',
  summary: 'Export a report as CSV',
  query,
  produces: 'text/csv',
  async handle(call) {
    const rows = await readRows(call);
    sendExport(call, 'report.csv', reportCsv(call.query.group ?? 'none', rows));
  },
});
