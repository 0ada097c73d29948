import { Anchor, SegmentedControl, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { Suspense, useState } from 'react';
import { useAccount } from '../account/use-me.ts';
import type { Report } from '../api/management.generated.ts';
import { lazyComponent } from '../components/lazy-component.ts';
import { PageAnchor } from '../components/links.tsx';
import { Note } from '../components/note.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { StateBadge } from '../components/state-badge.tsx';
import { TimeText } from '../components/time-text.tsx';
import {
  formatAtLeast,
  formatDuration,
  formatNumber,
  formatShare,
} from '../format/format-number.ts';
import { waitOfLine } from '../message/message-states.ts';
import { useCapturing } from '../message/use-captured.ts';
import { CountPlot } from '../report/count-plot.tsx';
import { figureOf, titleOf } from '../report/report-figures.ts';
import { lastDays, useReport } from '../report/use-report.ts';
import { text } from '../texts/text.ts';
import { AttentionPanel } from './attention-panel.tsx';
import { hasSteps, useLatestMessages, useQueue, useSendReadiness } from './use-overview.ts';

// Only accounts without a message show it, and it takes much of what dialogs need.
const FirstSteps = lazyComponent(() => import('./first-steps.tsx'), 'FirstSteps');

/** Current activity, what needs attention, and next steps for new accounts. */
export function OverviewPage() {
  const { account } = useAccount();
  const { data: readiness, error, refetch } = useSendReadiness();
  const heading = (
    <PageHeading
      title={account?.name ?? text('overview.title')}
      {...(account?.demo === true && { hint: text('overview.demo') })}
    />
  );
  if (readiness === undefined)
    return (
      <>
        {heading}
        <ProblemAlert error={error} retry={() => refetch()} />
        {error === null && <Skeleton height={240} />}
      </>
    );
  // Before the first message, there are no figures to show.
  if (hasSteps(readiness))
    return (
      <>
        {heading}
        <Stack gap="lg">
          <Suspense fallback={<Skeleton height={240} />}>
            <FirstSteps readiness={readiness} />
          </Suspense>
          <AttentionPanel hidesEmpty />
          <LatestMessages hidesEmpty />
        </Stack>
      </>
    );
  return (
    <>
      {heading}
      <Stack gap="lg">
        <AttentionPanel />
        <KeyMetrics />
        <LatestMessages />
      </Stack>
    </>
  );
}

interface LatestMessagesProps {
  /** Shows nothing instead of an empty panel. */
  hidesEmpty?: boolean;
}

/** The latest messages. */
function LatestMessages({ hidesEmpty = false }: LatestMessagesProps) {
  const messages = useLatestMessages();
  const items = messages.data?.items ?? [];
  if (hidesEmpty && items.length === 0 && messages.error === null) return null;
  return (
    <SectionCard
      id="recent"
      title={text('overview.recent')}
      action={
        items.length > 0 && (
          <PageAnchor to="/$account/messages" size="sm">
            {text('overview.allMessages')}
          </PageAnchor>
        )
      }
    >
      <ProblemAlert error={messages.error} retry={() => messages.refetch()} />
      {messages.isPending && <RowsSkeleton />}
      {messages.data !== undefined && items.length === 0 && (
        <Note size="sm">
          {text('messages.none')}. {text('overview.noneHint')}{' '}
          <Anchor href="/docs" inherit underline="always">
            {text('layout.docs')}
          </Anchor>
        </Note>
      )}
      <Stack gap={0}>
        {items.map((line) => (
          <div key={line.id} className="line latest-line">
            <PageAnchor
              to="/$account/messages/$message"
              params={{ message: line.id }}
              size="sm"
              truncate
              display="block"
            >
              {line.to ?? text('messages.erased')}
            </PageAnchor>
            <Note truncate>{line.subject ?? line.templateId}</Note>
            <StateBadge state={line.state} test={line.test} waits={waitOfLine(line)} />
            <Note ta="right">
              <TimeText value={line.acceptedAt} as="distance" />
            </Note>
          </div>
        ))}
      </Stack>
    </SectionCard>
  );
}

/** Delivery metrics of today or the last 30 days, as figures and a chart. */
function KeyMetrics() {
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
            <Note>
              {name} {share}
            </Note>
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
