import { Note } from '../components/note.tsx';
import './schedule.css';
import { Badge, Button, CloseButton, Code, Group, Stack, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../account/use-me.ts';
import type { ScheduledMessage } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { PageAnchor } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import type { Column } from '../components/rows.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { MatchingActions } from './matching-actions.tsx';
import { ScheduleActions } from './schedule-actions.tsx';
import { readScheduleFilters, type ScheduleFilters } from './schedule-filters.ts';

const route = getRouteApi('/$account/scheduled');

/** Messages whose send time is ahead; filters are in the URL, so they can be shared. */
export function ScheduledPage() {
  const may = useMay();
  const filters = readScheduleFilters(route.useSearch());
  const navigate = route.useNavigate();
  const pages = usePages('/accounts/{accountId}/scheduled-messages', {
    query: { ...filters, limit: 50 },
    refetchInterval: 15_000,
  });
  const filtered = Object.keys(filters).length > 0;
  // Empties the fields too.
  const [timesCleared, setTimesCleared] = useState(0);
  function clear() {
    setTimesCleared(timesCleared + 1);
    navigate({ search: {}, replace: true });
  }
  const noneFound = {
    icon: 'scheduled',
    title: text('schedule.noneFound'),
    hint: text('schedule.noneFoundHint'),
    action: (
      <Button variant="light" onClick={clear}>
        {text('schedule.clear')}
      </Button>
    ),
  } as const;
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
      {pages.items.length > 0 && (
        <MatchingActions filters={filters} loaded={pages.items.length} more={pages.hasNextPage} />
      )}
      <ListBody
        label={text('schedule.title')}
        pages={pages}
        columns={shown}
        idOf={({ messageId }) => messageId}
        empty={filtered ? noneFound : nothingScheduled}
      />
    </>
  );
}

const nothingScheduled = {
  icon: 'scheduled',
  title: text('schedule.none'),
  hint: (
    <>
      {text('schedule.sendWith')} <Code>sendAt</Code> {text('schedule.noneHint')}
    </>
  ),
  action: (
    <Button component="a" href="/docs" variant="default">
      {text('schedule.howTo')}
    </Button>
  ),
} as const;

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
          <TimeText value={sendAt} as="minute" />
          {paused && <Badge variant="light">{text('schedule.paused')}</Badge>}
        </Group>
        <Note span>
          <TimeText value={sendAt} as="distance" />
        </Note>
      </Stack>
    ),
  },
  {
    title: text('messages.template'),
    cell: ({ templateId, templateVersion }) => (
      <Group gap={6} wrap="nowrap">
        <span className="nowrap">{templateId}</span>
        <Note span>v{templateVersion}</Note>
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
  return (
    <PageAnchor
      to="/$account/scheduled/$message"
      params={{ message: messageId }}
      className="cut"
      title={to ?? undefined}
    >
      {to ?? text('messages.erased')}
    </PageAnchor>
  );
}

interface FilterBarProps {
  filters: ScheduleFilters;
  change: (filters: ScheduleFilters) => void;
  /** Undefined: there is nothing to clear, or it is offered elsewhere. */
  clear: (() => void) | undefined;
}

/** Filters by tag and external ID, while they are typed. */
function ScheduleFilterBar({ filters, change, clear }: FilterBarProps) {
  const { tag = '', externalId = '' } = filters;
  const [typed, setTyped] = useState({ tag, externalId });
  const find = useDebouncedCallback((now: typeof typed) => change(readScheduleFilters(now)), 250);

  function type(now: typeof typed) {
    setTyped(now);
    find(now);
  }

  const field = (name: 'tag' | 'externalId') => ({
    label: text(`messages.${name}`),
    value: typed[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      type({ ...typed, [name]: event.currentTarget.value }),
    className: 'schedule-filter',
    rightSection: typed[name] !== '' && (
      <CloseButton
        size="sm"
        aria-label={text('messages.removeFilter', { name: text(`messages.${name}`) })}
        onClick={() => type({ ...typed, [name]: '' })}
      />
    ),
  });
  return (
    <Group component="search" mb="md" gap="sm" align="flex-end">
      <TextInput {...field('tag')} placeholder={text('schedule.anyTag')} maxLength={48} />
      <TextInput {...field('externalId')} placeholder={text('schedule.anyId')} maxLength={128} />
      {clear !== undefined && (
        <Button variant="subtle" px="xs" className="schedule-clear" onClick={clear}>
          {text('schedule.clear')}
        </Button>
      )}
    </Group>
  );
}
