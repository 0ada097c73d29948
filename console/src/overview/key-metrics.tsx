import { SegmentedControl, SimpleGrid, Text } from '@mantine/core';
import { useState } from 'react';
import type { Report } from '../api/management.generated.ts';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { SectionCard } from '../components/section-card.tsx';
import {
  formatAtLeast,
  formatDuration,
  formatNumber,
  formatShare,
} from '../format/format-number.ts';
import { useCapturing } from '../message/use-captured.ts';
import { CountPlot } from '../report/count-plot.tsx';
import { figureOf, titleOf } from '../report/report-figures.ts';
import { lastDays, useReport } from '../report/use-report.ts';
import { text } from '../texts/text.ts';
import { useQueue } from './use-overview.ts';

/** Delivery metrics of today or the last 30 days, as figures and a chart. */
export function KeyMetrics() {
  const [days, setDays] = useState<1 | 30>(30);
  const unit = days === 1 ? 'hour' : 'day';
  const { now } = lastDays(days);
  const total = useReport(now, 'none');
  const rows = useReport(now, unit);
  const { data: queue } = useQueue();
  const capturing = useCapturing();
  const waiting =
    queue &&
    formatAtLeast(
      queue.destinations.reduce((sum, row) => sum + row.waiting, 0),
      queue.partial,
    );
  return (
    <SectionCard
      id="figures"
      title={text('overview.figures')}
      action={
        <SegmentedControl
          size="xs"
          aria-label={text('reports.period')}
          value={String(days)}
          onChange={(value) => setDays(value === '1' ? 1 : 30)}
          data={[
            { value: '1', label: text('reports.days', { count: 1 }) },
            { value: '30', label: text('reports.days', { count: 30 }) },
          ]}
        />
      }
    >
      <ProblemAlert
        error={total.error ?? rows.error}
        shownFrom={total.dataUpdatedAt}
        retry={() => rows.refetch()}
      />
      <SimpleGrid cols={{ base: 2, xs: 3, md: 6 }} verticalSpacing="sm" mb="md">
        {metricsOf(total.data, waiting, capturing).map(({ name, value, share }) => (
          <div key={name}>
            <Text className="figure" fw={650}>
              {value}
            </Text>
            <Text size="xs" c="dimmed">
              {name} {share}
            </Text>
          </div>
        ))}
      </SimpleGrid>
      <CountPlot rows={rows.data?.rows} period={now} unit={unit} />
    </SectionCard>
  );
}

interface Metric {
  readonly name: string;
  readonly value: string;
  readonly share?: string;
}

/** Shows dashes while loading. */
function metricsOf(
  report: Report | undefined,
  waiting: string | undefined,
  capturing: boolean,
): Metric[] {
  const row = report?.rows[0];
  const counts = row?.counts;
  const number = (value: number) => (report === undefined ? '–' : formatNumber(value));
  const accepted = figureOf('accepted', counts);
  const part = (value: number) => ({
    value: number(value),
    ...(accepted > 0 && { share: formatShare(value, accepted) }),
  });
  return [
    { name: text('reports.accepted'), value: number(accepted) },
    {
      name: titleOf('delivered', capturing),
      ...part(figureOf('delivered', counts)),
    },
    { name: text('reports.bounced'), ...part(figureOf('bounced', counts)) },
    { name: text('reports.opened'), ...part(figureOf('opened', counts)) },
    { name: text('overview.waiting'), value: waiting ?? '–' },
    {
      name: text('reports.latency'),
      value: row?.latency ? formatDuration(row.latency.p50) : '–',
    },
  ];
}
