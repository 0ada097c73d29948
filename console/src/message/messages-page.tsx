import { Group, Switch, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { MessageLine } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { PageAnchor } from '../components/links.tsx';
import { LoadMore } from '../components/load-more.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { type Column, Rows, RowsSkeleton } from '../components/rows.tsx';
import { StateBadge } from '../components/state-badge.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { MessageFilterBar } from './message-filter-bar.tsx';
import { periodStart, readMessageFilters } from './message-filters.ts';

const route = getRouteApi('/$account/messages');

/** The live message log; filters are in the URL, so they can be shared. */
export function MessagesPage() {
  const accountId = useAccountId();
  const filters = readMessageFilters(route.useSearch());
  const [live, setLive] = useState(true);
  const pages = usePages<MessageLine>({
    queryKey: ['messages', accountId, filters],
    refetchInterval: live ? 4_000 : false,
    read(cursor) {
      const { period, state, ...rest } = filters;
      const from = periodStart(period);
      const query = {
        ...rest,
        state: state as MessageLine['state'] | undefined,
        from,
        cursor,
        limit: 50,
      };
      return answerOf(
        api.GET('/accounts/{accountId}/messages', { params: { path: { accountId }, query } }),
      );
    },
  });
  const filtered = Object.keys(filters).length > 0;
  return (
    <>
      <PageHeading title={text('messages.title')} hint={text('messages.hint')}>
        <Switch
          label={text('messages.live')}
          checked={live}
          onChange={(event) => setLive(event.currentTarget.checked)}
        />
      </PageHeading>
      <MessageFilterBar />
      <ProblemAlert error={pages.error} retry={() => pages.refetch()} />
      {pages.isPending && <RowsSkeleton />}
      {pages.data !== undefined && pages.items.length === 0 && !pages.hasNextPage && (
        <EmptyState
          icon="messages"
          title={text(filtered ? 'messages.noneFound' : 'messages.none')}
          hint={text(filtered ? 'messages.noneFoundHint' : 'messages.noneHint')}
        >
          {!filtered && (
            <PageAnchor to="/$account/templates" params={{ account: accountId }}>
              {text('messages.toTemplates')}
            </PageAnchor>
          )}
        </EmptyState>
      )}
      {pages.items.length > 0 && (
        <Rows label={text('messages.title')} items={pages.items} columns={columns} idOf={idOf} />
      )}
      <LoadMore pages={pages} />
    </>
  );
}

const idOf = ({ id }: MessageLine) => id;

const columns: readonly Column<MessageLine>[] = [
  { title: text('messages.to'), cell: (line) => <MessageLink line={line} /> },
  { title: text('messages.state'), cell: ({ state }) => <StateBadge state={state} /> },
  {
    title: text('messages.template'),
    cell: ({ templateId, templateVersion }) => (
      <Group gap={6} wrap="nowrap">
        <span className="nowrap">{templateId}</span>
        <Text span size="xs" c="dimmed">
          {templateVersion < 0 ? text('messages.draft') : `v${templateVersion}`}
        </Text>
      </Group>
    ),
  },
  { title: text('messages.tag'), cell: ({ tag }) => tag },
  { title: text('messages.externalId'), cell: ({ externalId }) => externalId },
  { title: text('messages.accepted'), cell: ({ acceptedAt }) => <TimeText value={acceptedAt} /> },
  {
    title: text('messages.next'),
    cell: ({ nextAttemptAt, reason }) =>
      nextAttemptAt === null ? reason : <TimeText value={nextAttemptAt} distance />,
  },
];

function MessageLink({ line }: { line: MessageLine }) {
  const account = useAccountId();
  return (
    <PageAnchor
      to="/$account/messages/$message"
      params={{ account, message: line.id }}
      className="cut"
      title={line.to ?? undefined}
    >
      {line.to ?? text('messages.erased')}
    </PageAnchor>
  );
}
