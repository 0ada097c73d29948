import { Badge, Button, Code, Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { ScheduledMessage } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { PageAnchor } from '../components/links.tsx';
import { LoadMore } from '../components/load-more.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { type Column, Rows } from '../components/rows.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { MatchingActions } from './matching-actions.tsx';
import { ScheduleActions } from './schedule-actions.tsx';
import { ScheduleFilterBar } from './schedule-filter-bar.tsx';
import { readScheduleFilters } from './schedule-filters.ts';
import './schedule.css';

const route = getRouteApi('/$account/scheduled');

/** Messages whose send time is ahead; filters are in the URL, so they can be shared. */
export function ScheduledPage() {
  const accountId = useAccountId();
  const may = useMay();
  const filters = readScheduleFilters(route.useSearch());
  const navigate = route.useNavigate();
  const pages = usePages<ScheduledMessage>({
    queryKey: ['scheduled', accountId, filters],
    refetchInterval: 15_000,
    read(cursor) {
      const query = { ...filters, limit: 50, ...(cursor !== undefined && { cursor }) };
      return answerOf(
        api.GET('/accounts/{accountId}/scheduled-messages', {
          params: { path: { accountId }, query },
        }),
      );
    },
  });
  const filtered = Object.keys(filters).length > 0;
  const isEmpty = pages.data !== undefined && pages.items.length === 0 && !pages.hasNextPage;
  // Empties the fields too.
  const [timesCleared, setTimesCleared] = useState(0);
  function clear() {
    setTimesCleared(timesCleared + 1);
    navigate({ search: {}, replace: true });
  }
  const shown = [
    ...columns,
    ...(pages.items.some(({ tag }) => tag !== null) ? [tagColumn] : []),
    ...(may('queue:control') ? [actions] : []),
  ];
  return (
    <>
      <PageHeading title={text('schedule.title')} hint={text('schedule.hint')} />
      {(filtered || pages.items.length > 0 || pages.isPlaceholderData) && (
        <ScheduleFilterBar
          key={timesCleared}
          filters={filters}
          change={(search) => navigate({ search, replace: true })}
          clear={filtered && pages.items.length > 0 ? clear : undefined}
        />
      )}
      <ProblemAlert error={pages.error} retry={() => pages.refetch()} />
      {pages.isPending && <RowsSkeleton />}
      {isEmpty && !filtered && <NothingScheduled />}
      {isEmpty && filtered && (
        <EmptyState
          icon="scheduled"
          title={text('schedule.noneFound')}
          hint={text('schedule.noneFoundHint')}
        >
          <Button variant="light" onClick={clear}>
            {text('schedule.clear')}
          </Button>
        </EmptyState>
      )}
      {pages.items.length > 0 && (
        <>
          <MatchingActions filters={filters} loaded={pages.items.length} more={pages.hasNextPage} />
          <Rows label={text('schedule.title')} items={pages.items} columns={shown} idOf={idOf} />
        </>
      )}
      <LoadMore pages={pages} />
    </>
  );
}

/** How to schedule messages, as long as there are none. */
function NothingScheduled() {
  return (
    <EmptyState
      icon="scheduled"
      title={text('schedule.none')}
      hint={
        <>
          {text('schedule.sendWith')} <Code>sendAt</Code> {text('schedule.noneHint')}
        </>
      }
    >
      <Button component="a" href="/docs" variant="default">
        {text('schedule.howTo')}
      </Button>
    </EmptyState>
  );
}

const idOf = ({ messageId }: ScheduledMessage) => messageId;

const actions: Column<ScheduledMessage> = {
  title: text('schedule.actions'),
  actions: true,
  cell: (message) => <ScheduleActions message={message} />,
};

const columns: readonly Column<ScheduledMessage>[] = [
  { title: text('schedule.to'), cell: (message) => <ScheduledLink message={message} /> },
  {
    title: text('messages.subject'),
    cell: ({ subject }) =>
      subject !== null && (
        <span className="cut" title={subject}>
          {subject}
        </span>
      ),
  },
  {
    title: text('schedule.sendAt'),
    cell: ({ sendAt, paused }) => (
      <Stack gap={0}>
        <Group gap={6} wrap="nowrap">
          <TimeText value={sendAt} toMinute />
          {paused && <Badge variant="light">{text('schedule.paused')}</Badge>}
        </Group>
        <Text span size="xs" c="dimmed">
          <TimeText value={sendAt} distance />
        </Text>
      </Stack>
    ),
  },
  {
    title: text('messages.template'),
    cell: ({ templateId, templateVersion }) => (
      <Group gap={6} wrap="nowrap">
        <span className="nowrap">{templateId}</span>
        <Text span size="xs" c="dimmed">
          v{templateVersion}
        </Text>
      </Group>
    ),
  },
];

const tagColumn: Column<ScheduledMessage> = {
  title: text('messages.tag'),
  cell: ({ tag }) =>
    tag !== null && (
      <span className="cut-short" title={tag}>
        {tag}
      </span>
    ),
};

function ScheduledLink({ message: { messageId, to } }: { message: ScheduledMessage }) {
  const account = useAccountId();
  return (
    <PageAnchor
      to="/$account/scheduled/$message"
      params={{ account, message: messageId }}
      className="cut"
      title={to ?? undefined}
    >
      {to ?? text('messages.erased')}
    </PageAnchor>
  );
}
