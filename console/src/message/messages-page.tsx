import { Button, Checkbox, Group, Popover, Stack, Switch, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { MessageLine } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { Icon } from '../components/icon.tsx';
import { PageAnchor } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { Note } from '../components/note.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import type { Column } from '../components/rows.tsx';
import { StateBadge } from '../components/state-badge.tsx';
import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import { nameLocale } from '../format/name-locale.ts';
import { text } from '../texts/text.ts';
import { MessageFilterBar } from './message-filter-bar.tsx';
import { type MessageFilters, messageQuery, readMessageFilters } from './message-filters.ts';
import { isFinalMessageState, waitOfLine } from './message-states.ts';

const route = getRouteApi('/$account/messages');

/** The live message log; filters are in the URL, so they can be shared. */
export function MessagesPage() {
  const accountId = useAccountId();
  const filters = readMessageFilters(route.useSearch());
  const [live, setLive] = useState(true);
  const pages = usePages('/accounts/{accountId}/messages', {
    query: () => ({ ...messageQuery(filters), limit: 50 }),
    revision: filters,
    refetchInterval: live ? 4_000 : false,
  });
  const filtered = Object.keys(filters).length > 0;
  const { columns, ...picker } = useMessageColumns();
  return (
    <>
      <PageHeading title={text('nav.messages')} hint={text('messages.hint')}>
        <Switch
          mr="sm"
          label={text('messages.live')}
          checked={live}
          onChange={(event) => setLive(event.currentTarget.checked)}
        />
        <ColumnPicker {...picker} />
        <Button component="a" variant="default" href={exportUrl(accountId, filters)} download>
          {text('messages.export')}
        </Button>
      </PageHeading>
      <MessageFilterBar />
      <ListBody
        label={text('nav.messages')}
        pages={pages}
        columns={columns}
        idOf={({ id }) => id}
        compact
        empty={{
          icon: 'messages',
          title: text(filtered ? 'messages.noneFound' : 'messages.none'),
          hint: text(filtered ? noneFoundHint(filters) : 'messages.noneHint'),
          action: filtered ? (
            <SearchRecipients filters={filters} />
          ) : (
            <PageAnchor to="/$account/templates">{text('messages.toTemplates')}</PageAnchor>
          ),
        }}
      />
    </>
  );
}

/** Offers to search what was searched for in the recipients, if it can be part of an address. */
function SearchRecipients({ filters }: { filters: MessageFilters }) {
  const navigate = route.useNavigate();
  const { search } = filters;
  if (search === undefined || /\s/.test(search)) return null;
  return (
    <Button
      variant="light"
      onClick={() => navigate({ search: { ...filters, search: undefined, recipient: search } })}
    >
      {text('messages.searchRecipients', { text: search })}
    </Button>
  );
}

function noneFoundHint({ search }: MessageFilters) {
  return search === undefined ? 'messages.noneFoundHint' : 'messages.noneSearchedHint';
}

function exportUrl(accountId: string, filters: MessageFilters): string {
  const given = Object.entries(messageQuery(filters)).filter(([, value]) => value !== undefined);
  return `/manage/v1/accounts/${accountId}/messages-export?${new URLSearchParams(given as [string, string][])}`;
}

/** All columns, in display order. The first one links to the message, so it is always shown. */
export const messageLogColumns = {
  to: { title: text('messages.to'), cell: (line) => <MessageLink line={line} /> },
  subject: {
    title: text('messages.subject'),
    cell: ({ subject }) =>
      subject === null ? (
        <Note span size="sm">
          {text('messages.erased')}
        </Note>
      ) : (
        <span className="cut" title={subject}>
          {subject}
        </span>
      ),
  },
  state: { title: text('messages.state'), cell: (line) => <LineState line={line} /> },
  template: {
    title: text('messages.template'),
    secondary: true,
    cell: ({ templateId, templateVersion }) => (
      <Group gap={6} wrap="nowrap">
        <span className="nowrap">{templateId}</span>
        <Note span>{templateVersion < 0 ? text('messages.draft') : `v${templateVersion}`}</Note>
      </Group>
    ),
  },
  tag: { title: text('messages.tag'), secondary: true, cell: ({ tag }) => tag },
  externalId: {
    title: text('messages.externalId'),
    secondary: true,
    cell: ({ externalId }) => externalId !== null && <span className="nowrap">{externalId}</span>,
  },
  locale: {
    title: text('messages.filter.locale'),
    secondary: true,
    cell: ({ locale }) => locale !== null && nameLocale(locale),
  },
  from: { title: text('messages.from'), secondary: true, cell: ({ from }) => from },
  id: {
    title: text('message.id'),
    secondary: true,
    cell: ({ id }) => <code className="nowrap">{id}</code>,
  },
  accepted: {
    title: text('messages.accepted'),
    cell: ({ acceptedAt }) => <TimeText value={acceptedAt} />,
  },
} as const satisfies Readonly<Record<string, Column<MessageLine>>>;

type ColumnName = keyof typeof messageLogColumns;

const names = Object.keys(messageLogColumns) as ColumnName[];
const defaultNames: ColumnName[] = ['to', 'subject', 'state', 'template', 'accepted'];

/** The chosen columns, which this browser remembers. */
function useMessageColumns() {
  const [stored, setStored] = useLocalStorage<ColumnName[]>({
    key: 'signalpost-message-columns',
    defaultValue: defaultNames,
    getInitialValueInEffect: false,
  });
  const chosen = new Set<ColumnName>(['to', ...(Array.isArray(stored) ? stored : defaultNames)]);
  return {
    chosen,
    columns: names.filter((name) => chosen.has(name)).map((name) => messageLogColumns[name]),
    choose(name: ColumnName, shown: boolean) {
      setStored(names.filter((one) => (one === name ? shown : chosen.has(one))));
    },
  };
}

/** Chooses the columns of the message log. */
function ColumnPicker({
  chosen,
  choose,
}: Pick<ReturnType<typeof useMessageColumns>, 'chosen' | 'choose'>) {
  return (
    <Popover position="bottom-end" trapFocus withinPortal={false}>
      <Popover.Target>
        <Button variant="default" leftSection={<Icon name="settings" size={16} />}>
          {text('messages.columns')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={text('messages.columns')}>
        <Stack gap={8}>
          {names.map((name) => (
            <Checkbox
              key={name}
              label={messageLogColumns[name].title}
              checked={chosen.has(name)}
              disabled={name === 'to'}
              onChange={(event) => choose(name, event.currentTarget.checked)}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

/** The state, and for a waiting message its next attempt or why there is none. */
function LineState({ line }: { line: MessageLine }) {
  const { state, paused, nextAttemptAt, reason } = line;
  const waits = !paused && !isFinalMessageState(state);
  return (
    <Group gap="0 8px">
      <StateBadge state={state} test={line.test} waits={waitOfLine(line)} />
      {line.test && <Tag>{text('messages.mode.test')}</Tag>}
      {waits && (
        <Text span size="xs" c="dimmed" className="cut-short" title={reason ?? undefined}>
          {nextAttemptAt === null ? reason : <TimeText value={nextAttemptAt} as="distance" />}
        </Text>
      )}
    </Group>
  );
}

function MessageLink({ line }: { line: MessageLine }) {
  return (
    <PageAnchor
      to="/$account/messages/$message"
      params={{ message: line.id }}
      className="cut"
      title={line.to ?? undefined}
    >
      {line.to ?? text('messages.erased')}
    </PageAnchor>
  );
}
