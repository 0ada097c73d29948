import { Note } from '../components/note.tsx';
import './schedule.css';
import { Badge, Button, CloseButton, Code, Group, Stack, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useMay } from '../account/use-me.ts';
import type { ScheduledMessage } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { PageAnchor } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import type { Column } from '../components/rows.tsx';
import { useTypedText } from '../components/search-field.tsx';
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
  const change = (part: ScheduleFilters) =>
    navigate({ search: (now) => readScheduleFilters({ ...now, ...part }), replace: true });
  const clear = () => change({ tag: '', externalId: '' });
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
      <PageHeading title={text('nav.scheduled')} hint={text('schedule.hint')} />
      {(filtered || pages.items.length > 0 || pages.isPlaceholderData) && (
        <ScheduleFilterBar
          filters={filters}
          change={change}
          clear={filtered && pages.items.length > 0 ? clear : undefined}
        />
      )}
      {pages.items.length > 0 && (
        <MatchingActions filters={filters} loaded={pages.items.length} more={pages.hasNextPage} />
      )}
      <ListBody
        label={text('nav.scheduled')}
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
  change: (part: ScheduleFilters) => void;
  /** Undefined: there is nothing to clear, or it is offered elsewhere. */
  clear: (() => void) | undefined;
}

/** Filters by tag and external ID, while they are typed. */
function ScheduleFilterBar({ filters, change, clear }: FilterBarProps) {
  const field = (name: 'tag' | 'externalId', typed: ReturnType<typeof useTypedText>) => ({
    label: text(`messages.${name}`),
    value: typed.value,
    onChange: (event: { currentTarget: { value: string } }) =>
      typed.change(event.currentTarget.value),
    className: 'schedule-filter',
    rightSection: typed.value !== '' && (
      <CloseButton
        size="sm"
        aria-label={text('messages.removeFilter', { name: text(`messages.${name}`) })}
        onClick={() => typed.change('')}
      />
    ),
  });
  const tag = useTypedText(filters.tag ?? '', (wanted) => change({ tag: wanted }));
  const externalId = useTypedText(filters.externalId ?? '', (wanted) =>
    change({ externalId: wanted }),
  );
  return (
    <Group component="search" mb="md" gap="sm" align="flex-end">
      <TextInput {...field('tag', tag)} placeholder={text('schedule.anyTag')} maxLength={48} />
      <TextInput
        {...field('externalId', externalId)}
        placeholder={text('schedule.anyId')}
        maxLength={128}
      />
      {clear !== undefined && (
        <Button variant="subtle" px="xs" className="schedule-clear" onClick={clear}>
          {text('schedule.clear')}
        </Button>
      )}
    </Group>
  );
}
