import {
  Button,
  Checkbox,
  Group,
  NativeSelect,
  Paper,
  SimpleGrid,
  Text,
  Title,
} from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useAccountId } from '../account/use-me.ts';
import type { ReportRow } from '../api/management.generated.ts';
import { choicesOf } from '../components/choices-of.ts';
import { ListBody } from '../components/list-body.tsx';
import { Note } from '../components/note.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import type { Column } from '../components/rows.tsx';
import { formatDuration, formatNumber, formatShare } from '../format/format-number.ts';
import { formatDay, formatDays } from '../format/format-time.ts';
import { nameLocale } from '../format/name-locale.ts';
import { useCapturing } from '../message/use-captured.ts';
import { text } from '../texts/text.ts';
import { defaultReportFilters } from './report-filters.ts';
import './report.css';
import { CountPlot } from './count-plot.tsx';
import {
  changeOf,
  type FigureChange,
  figureOf,
  type ReportFigure,
  titleOf,
} from './report-figures.ts';
import {
  applicableFilters,
  canFilter,
  type ReportFilters,
  readReportFilters,
  reportDayOptions,
  reportGroupOptions,
} from './report-filters.ts';
import { lastDays, type ReportGroupOption, type ReportPeriod, useReport } from './use-report.ts';

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
  const { now, before, beforeSoFar } = lastDays(days);
  const unit = days === 1 ? 'hour' : 'day';
  const applied = applicableFilters(filters, group);
  const plotted = useReport(now, unit, applied);
  const plottedBefore = useReport(before, unit, { ...applied, enabled: compare });
  const total = useReport(now, 'none', applied);
  const totalBefore = useReport(beforeSoFar, 'none', { ...applied, enabled: compare });
  const report = useReport(now, group, applied);
  const earlier = useReport(beforeSoFar, group, { ...applied, enabled: compare });
  const rows = report.data?.rows ?? [];
  const hasEarlier = plottedBefore.data?.rows.length !== 0;
  const compares = compare && hasEarlier;
  const capturing = useCapturing();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const file = new URLSearchParams({ ...now, ...applied, group, timeZone: zone });
  return (
    <>
      <PageHeading title={text('nav.reports')} hint={text('reports.hint')}>
        <Button
          component="a"
          variant="default"
          href={`/manage/v1/accounts/${accountId}/reports-export?${file}`}
          download
        >
          {text('reports.export')}
        </Button>
      </PageHeading>
      <Group align="flex-end" gap="sm" mb="md">
        <NativeSelect
          {...filterWidth}
          label={text('reports.period')}
          value={String(days)}
          onChange={(event) => choose({ days: Number(event.currentTarget.value) })}
          data={choicesOf(reportDayOptions, (count) => text('reports.days', { count }))}
        />
        <NativeSelect
          {...filterWidth}
          label={text('reports.group')}
          value={group}
          onChange={(event) => choose({ group: event.currentTarget.value as ReportGroupOption })}
          data={choicesOf(reportGroupOptions, (value) => text(`reports.by.${value}`))}
        />
        {canFilter(group, 'template') && (
          <KeySelect
            label={text('reports.by.template')}
            any={text('reports.anyTemplate')}
            period={now}
            group="template"
            value={filters.templateId}
            choose={(templateId) => choose({ templateId })}
          />
        )}
        {canFilter(group, 'locale') && (
          <KeySelect
            label={text('reports.by.locale')}
            any={text('reports.anyLocale')}
            period={now}
            group="locale"
            value={filters.locale}
            choose={(locale) => choose({ locale })}
          />
        )}
        <Checkbox
          label={text('reports.compare')}
          checked={compare}
          onChange={(event) => choose({ compare: event.currentTarget.checked })}
          mb={8}
        />
      </Group>
      <ProblemAlert
        error={report.error ?? plotted.error}
        shownFrom={report.dataUpdatedAt}
        retry={() => report.refetch()}
      />
      <Paper withBorder p="md" mb="md" component="section" aria-labelledby="figures">
        <Group gap="0 8px" align="baseline" mb="sm">
          <Title order={2} id="figures">
            {text('reports.days', { count: days })}
          </Title>
          {compare && (
            <Note size="sm">
              {text(hasEarlier ? 'reports.compared' : 'reports.notCompared', {
                days: formatDays(before.from, before.until),
              })}
            </Note>
          )}
        </Group>
        <Figures
          now={total.data?.rows[0]}
          before={compare ? totalBefore.data?.rows[0] : undefined}
          loaded={total.data !== undefined}
        />
        <Title order={3} size="sm" mb="xs">
          {text(days === 1 ? 'reports.perHour' : 'reports.perDay')}
        </Title>
        <CountPlot
          rows={plotted.data?.rows}
          period={now}
          unit={unit}
          {...(compares && { earlier: { rows: plottedBefore.data?.rows, period: before } })}
        />
      </Paper>
      <ListBody
        label={text('nav.reports')}
        pages={{ ...report, items: rows, error: null }}
        empty={{ icon: 'reports', title: text('reports.none'), hint: text('reports.noneHint') }}
        idOf={({ key }) => key}
        columns={columnsFor(
          group,
          rows,
          compares && group !== 'day' ? earlier.data?.rows : undefined,
          capturing,
        )}
      />
    </>
  );
}

const totalFigures = [
  'accepted',
  'delivered',
  'bounced',
  'open',
  'opened',
  'clicked',
  'complained',
] as const;

interface FiguresProps {
  /** Undefined: there are no messages, or they aren't known. */
  now: ReportRow | undefined;
  before: ReportRow | undefined;
  loaded: boolean;
}

/** The counts and latency of all messages of the report. */
function Figures({ now, before, loaded }: FiguresProps) {
  const capturing = useCapturing();
  const accepted = figureOf('accepted', now?.counts);
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} verticalSpacing="sm" mb="md">
      {totalFigures.map((figure) => (
        <div key={figure}>
          <Group gap="0 6px" align="baseline">
            <Text className="figure" fw={650}>
              {loaded ? formatNumber(figureOf(figure, now?.counts)) : '–'}
            </Text>
            {figure !== 'accepted' && accepted > 0 && (
              <Note size="sm">{formatShare(figureOf(figure, now?.counts), accepted)}</Note>
            )}
          </Group>
          <Group gap="0 6px">
            <Note>{titleOf(figure, capturing)}</Note>
            <CountChange figure={figure} now={now} before={before} />
          </Group>
        </div>
      ))}
      <div>
        <Text className="figure" fw={650}>
          {now?.latency ? formatDuration(now.latency.p50) : '–'}
        </Text>
        <Group gap="0 6px">
          <Note>{text('reports.latency')}</Note>
          <LatencyChange now={now} before={before} />
        </Group>
      </div>
      {now?.linkWait && (
        <div>
          <Text className="figure" fw={650}>
            {formatDuration(now.linkWait.p50)}
          </Text>
          <Note>{text('reports.linkWait')}</Note>
        </div>
      )}
    </SimpleGrid>
  );
}

/** Equal widths, so that the filters line up when they wrap. */
const filterWidth = { flex: '1 1 8rem', maw: 240 };

interface KeySelectProps {
  label: string;
  /** The option for no filter. */
  any: string;
  period: ReportPeriod;
  group: 'template' | 'locale';
  value: string | undefined;
  choose: (value: string) => void;
}

/** Filters by one of the keys that the period has messages of. */
function KeySelect({ label, any, period, group, value = '', choose }: KeySelectProps) {
  const keys = (useReport(period, group).data?.rows ?? []).map(({ key }) => key);
  // A key without messages in this period can still be chosen through a link.
  const shown = value === '' || keys.includes(value) ? keys : [...keys, value];
  return (
    <NativeSelect
      {...filterWidth}
      label={label}
      value={value}
      onChange={(event) => choose(event.currentTarget.value)}
      data={[{ value: '', label: any }, ...choicesOf(shown, (key) => nameOf(group, key))]}
    />
  );
}

/** The name of a report row. */
function nameOf(group: ReportGroupOption, key: string): string {
  if (dayKey.test(key)) return formatDay(key);
  if (group === 'locale')
    return key === 'default' ? text('reports.defaultContent') : nameLocale(key);
  return key || text('reports.noName');
}

function columnsFor(
  group: ReportGroupOption,
  rows: readonly ReportRow[],
  earlier: readonly ReportRow[] | undefined,
  capturing: boolean,
): Column<ReportRow>[] {
  const count = (figure: ReportFigure, share = true): Column<ReportRow> => ({
    title: titleOf(figure, capturing),
    numeric: true,
    cell: (row) => (
      // A single element, because the children of a cell are separate items on phones.
      <div className="report-count" data-compared={earlier !== undefined || undefined}>
        {formatNumber(figureOf(figure, row.counts))}
        <div className="report-rate">
          <Note>
            {/* Changes are in one line, also where there is no share. */}
            {share ? formatShare(figureOf(figure, row.counts), row.counts.accepted) : '\u00a0'}
          </Note>
          {earlier !== undefined && (
            <CountChange
              figure={figure}
              now={row}
              before={earlier.find(({ key }) => key === row.key)}
            />
          )}
        </div>
      </div>
    ),
  });
  return [
    {
      title: text(group === 'none' || group === 'hour' ? 'reports.name' : `reports.by.${group}`),
      cell: ({ key }) => <span className="report-name">{nameOf(group, key)}</span>,
    },
    count('accepted', false),
    count('delivered'),
    count('bounced'),
    count('open'),
    count('opened'),
    count('clicked'),
    count('complained'),
    // Not counted by tag, destination, sender and language.
    ...(rows.some((row) => row.latency !== null) ? [latencyColumn(earlier)] : []),
  ];
}

const latencyColumn = (earlier: readonly ReportRow[] | undefined): Column<ReportRow> => ({
  title: text('reports.latency'),
  numeric: true,
  cell: (row) => (
    <div className="report-count" data-compared={earlier !== undefined || undefined}>
      {row.latency === null ? '–' : formatDuration(row.latency.p50)}
      <div className="report-rate">
        <Text size="xs">{'\u00a0'}</Text>
        <LatencyChange now={row} before={earlier?.find(({ key }) => key === row.key)} />
      </div>
    </div>
  ),
});

function CountChange({ figure, ...rows }: { figure: ReportFigure } & Omit<FiguresProps, 'loaded'>) {
  const change = changeOf(figure, rows.now?.counts, rows.before?.counts);
  return change && <Change {...change} />;
}

function LatencyChange({ now, before }: Omit<FiguresProps, 'loaded'>) {
  if (!now?.latency || !before?.latency) return null;
  return (
    <Change
      difference={now.latency.p50 - before.latency.p50}
      format={formatDuration}
      before={formatDuration(before.latency.p50)}
      better="less"
    />
  );
}

/** The difference to the period before, such as “↓ 1.1%”; the tooltip says from what. */
function Change({ difference, format, before, better }: FigureChange) {
  const shown = format(Math.abs(difference));
  const isSame = shown === format(0);
  return (
    <Text
      size="xs"
      {...(isSame || better === undefined
        ? { c: 'dimmed' }
        : { 'data-good': (better === 'more') === difference > 0 })}
      className="change nowrap"
      title={text('reports.change', { before })}
    >
      {isSame ? shown : `${difference > 0 ? '↑' : '↓'} ${shown}`}
    </Text>
  );
}
