import { Button, Checkbox, Group, Popover, Stack, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useAccountId } from '../account/use-me.ts';
import type { MessageLine } from '../api/management.generated.ts';
import { Icon } from '../components/icon.tsx';
import { PageAnchor } from '../components/links.tsx';
import type { Column } from '../components/rows.tsx';
import { StateBadge } from '../components/state-badge.tsx';
import { TimeText } from '../components/time-text.tsx';
import { nameLocale } from '../format/name-locale.ts';
import { text } from '../texts/text.ts';
import { isFinalMessageState, waitOfLine } from './message-states.ts';

/** All columns, in display order. The first one links to the message, so it is always shown. */
const columns = {
  to: { title: text('messages.to'), cell: (line) => <MessageLink line={line} /> },
  subject: {
    title: text('messages.subject'),
    cell: ({ subject }) =>
      subject === null ? (
        <Text span size="sm" c="dimmed">
          {text('messages.erased')}
        </Text>
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
        <Text span size="xs" c="dimmed">
          {templateVersion < 0 ? text('messages.draft') : `v${templateVersion}`}
        </Text>
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

type ColumnName = keyof typeof columns;

const names = Object.keys(columns) as ColumnName[];
const defaultNames: ColumnName[] = ['to', 'subject', 'state', 'template', 'accepted'];

/** The chosen columns, which this browser remembers. */
export function useMessageColumns() {
  const [stored, setStored] = useLocalStorage<ColumnName[]>({
    key: 'signalpost-message-columns',
    defaultValue: defaultNames,
    getInitialValueInEffect: false,
  });
  const chosen = new Set<ColumnName>(['to', ...(Array.isArray(stored) ? stored : defaultNames)]);
  return {
    chosen,
    columns: names.filter((name) => chosen.has(name)).map((name) => columns[name]),
    choose(name: ColumnName, shown: boolean) {
      setStored(names.filter((one) => (one === name ? shown : chosen.has(one))));
    },
  };
}

/** Chooses the columns of the message log. */
export function ColumnPicker({
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
              label={columns[name].title}
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
      <StateBadge state={state} waits={waitOfLine(line)} />
      {waits && (
        <Text span size="xs" c="dimmed" className="cut-short" title={reason ?? undefined}>
          {nextAttemptAt === null ? reason : <TimeText value={nextAttemptAt} as="distance" />}
        </Text>
      )}
    </Group>
  );
}

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
