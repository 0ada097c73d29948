import { Paper, SimpleGrid, Text, Title } from '@mantine/core';
import type { ReportRow } from '../api/management.generated.ts';
import { formatDuration, formatNumber } from '../format/format-number.ts';
import { DayPlot } from '../report/lazy-day-plot.tsx';
import { lastDays, useReport } from '../report/use-report.ts';
import { text } from '../texts/text.ts';

/** What became of the messages of the last 30 days: in figures, and as a plot where there were any. */
export function Month() {
  const { now } = lastDays(30);
  const total = useReport(now, 'none').data?.rows[0];
  const days = useReport(now, 'day').data?.rows;
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="month">
      <Title order={2} id="month" mb="sm">
        {text('overview.month')}
      </Title>
      <SimpleGrid cols={{ base: 2, xs: 5 }} mb="sm">
        {figuresOf(total).map(([name, value]) => (
          <div key={name}>
            <Text size="xl" fw={650}>
              {value}
            </Text>
            <Text size="xs" c="dimmed">
              {name}
            </Text>
          </div>
        ))}
      </SimpleGrid>
      {days !== undefined && days.length > 0 && <DayPlot rows={days} />}
    </Paper>
  );
}

function figuresOf(row: ReportRow | undefined): [string, string][] {
  const counts = row?.counts;
  const bounced = (counts?.bounced_hard ?? 0) + (counts?.bounced_soft ?? 0);
  return [
    [text('reports.accepted'), formatNumber(counts?.accepted ?? 0)],
    [text('reports.delivered'), formatNumber(counts?.delivered ?? 0)],
    [text('reports.bounced'), formatNumber(bounced)],
    [text('reports.opened'), formatNumber(counts?.opened_people_unique ?? 0)],
    [text('reports.latency'), row?.latency ? formatDuration(row.latency.p50) : '–'],
  ];
}
