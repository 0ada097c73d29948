import { Button, Checkbox, Group, NativeSelect, Paper, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useAccountId } from '../account/use-me.ts';
import type { ReportRow } from '../api/management.generated.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { type Column, Rows } from '../components/rows.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { formatDuration, formatNumber, formatShare } from '../format/format-number.ts';
import { formatDay } from '../format/format-time.ts';
import { text } from '../texts/text.ts';
import { CountPlot } from './count-plot.tsx';
import { figureOf, type ReportFigure } from './report-figures.ts';
import {
  defaultReportFilters,
  type ReportFilters,
  readReportFilters,
  reportDayOptions,
  reportGroupOptions,
} from './report-filters.ts';
import { lastDays, type ReportGroupOption, useReport } from './use-report.ts';

/** The key of a day's report row: its start in the browser's time zone. */
const dayKey = /^\d{4}-\d\d-\d\dT00:00$/;

const route = getRouteApi('/$account/reports');

/**
 * Delivery reports: a chart over time and counts by a chosen group. The selection is in the URL, so it can be shared.
 */
export function ReportsPage() {
  const accountId = useAccountId();
  const filters = readReportFilters(route.useSearch());
  const navigate = route.useNavigate();
  const { days, group, compare } = { ...defaultReportFilters, ...filters };
  const choose = (part: ReportFilters) =>
    navigate({ search: readReportFilters({ ...filters, ...part }), replace: true });
  const { now, before } = lastDays(days);
  const unit = days === 1 ? 'hour' : 'day';
  const plotted = useReport(now, unit);
  const report = useReport(now, group);
  const earlier = useReport(before, group, compare);
  const rows = report.data?.rows ?? [];
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const file = new URLSearchParams({ ...now, group, timeZone: zone });
  return (
    <>
      <PageHeading title={text('reports.title')} hint={text('reports.hint')}>
        <Button
          component="a"
          variant="default"
          href={`/manage/v1/accounts/${accountId}/reports-export?${file}`}
          download
        >
          {text('reports.export')}
        </Button>
      </PageHeading>
      <Group align="flex-end" mb="md">
        <NativeSelect
          label={text('reports.period')}
          value={String(days)}
          onChange={(event) => choose({ days: Number(event.currentTarget.value) })}
          data={reportDayOptions.map((count) => ({
            value: String(count),
            label: text('reports.days', { count }),
          }))}
        />
        <NativeSelect
          label={text('reports.group')}
          value={group}
          onChange={(event) => choose({ group: event.currentTarget.value as ReportGroupOption })}
          data={reportGroupOptions.map((value) => ({ value, label: text(`reports.by.${value}`) }))}
        />
        <Checkbox
          label={text('reports.compare')}
          checked={compare}
          onChange={(event) => choose({ compare: event.currentTarget.checked })}
          mb={8}
        />
      </Group>
      <ProblemAlert error={report.error ?? plotted.error} retry={() => report.refetch()} />
      <Paper withBorder p="md" mb="md">
        <CountPlot rows={plotted.data?.rows} period={now} unit={unit} />
      </Paper>
      {report.isPending && <RowsSkeleton />}
      {report.data !== undefined && rows.length === 0 && (
        <EmptyState icon="reports" title={text('reports.none')} hint={text('reports.noneHint')} />
      )}
      {rows.length > 0 && (
        <Rows
          label={text('reports.title')}
          items={rows}
          idOf={({ key }) => key}
          columns={columnsFor(group, compare ? earlier.data?.rows : undefined)}
        />
      )}
    </>
  );
}

/** The name of a report row. */
function nameOf(group: ReportGroupOption, key: string): string {
  if (dayKey.test(key)) return formatDay(key);
  if (group === 'locale' && key === 'default') return text('reports.defaultContent');
  return key || text('reports.noName');
}

function columnsFor(
  group: ReportGroupOption,
  earlier: readonly ReportRow[] | undefined,
): Column<ReportRow>[] {
  const count = (figure: ReportFigure, share = true): Column<ReportRow> => ({
    title: text(`reports.${figure}`),
    numeric: true,
    cell: (row) => (
      // A single element, because the children of a cell are separate items on phones.
      <div>
        {formatNumber(figureOf(figure, row.counts))}
        {share && (
          <Text span size="xs" c="dimmed">
            {' '}
            {formatShare(figureOf(figure, row.counts), row.counts.accepted)}
          </Text>
        )}
        {earlier !== undefined && <Change row={row} figure={figure} earlier={earlier} />}
      </div>
    ),
  });
  return [
    {
      title: text('reports.name'),
      cell: ({ key }) => nameOf(group, key),
    },
    count('accepted', false),
    count('delivered'),
    count('bounced'),
    count('opened'),
    count('clicked'),
    count('complained'),
    {
      title: text('reports.latency'),
      numeric: true,
      cell: ({ latency }) => (latency === null ? '–' : formatDuration(latency.p50)),
    },
  ];
}

interface ChangeProps {
  row: ReportRow;
  figure: ReportFigure;
  earlier: readonly ReportRow[];
}

function Change({ row, figure, earlier }: ChangeProps) {
  const before = earlier.find(({ key }) => key === row.key);
  return (
    <Text size="xs" c="dimmed">
      {text('reports.before', { value: formatNumber(figureOf(figure, before?.counts)) })}
    </Text>
  );
}
