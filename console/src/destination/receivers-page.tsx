import './destination-texts.ts';
import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useSettings } from '../account/use-settings.ts';
import type { Receiver } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { Rows } from '../components/rows.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { TimeText } from '../components/time-text.tsx';
import { formatNumber } from '../format/format-number.ts';
import { text } from '../texts/text.ts';
import { DestinationTabs } from './destination-tabs.tsx';
import { OnlyDirect } from './only-direct.tsx';
import { ReceiverDialog } from './receiver-dialog.tsx';

/** For operators: how fast receivers take mail, learned or set. */
export function ReceiversPage() {
  const receivers = useQuery({
    queryKey: ['receivers'],
    queryFn: () => answerOf(api.GET('/installation/receivers')),
    refetchInterval: 5_000,
  });
  const { data: settings } = useSettings();
  const items = receivers.data?.items ?? [];
  return (
    <>
      <PageHeading title={text('destinations.title')} hint={text('receivers.hint')} />
      <DestinationTabs />
      <ProblemAlert
        error={receivers.error}
        shownFrom={receivers.dataUpdatedAt}
        retry={() => receivers.refetch()}
      />
      {receivers.isPending && <RowsSkeleton />}
      {receivers.data !== undefined &&
        settings !== undefined &&
        items.length === 0 &&
        (settings.delivery === 'direct' ? (
          <EmptyState
            icon="destinations"
            title={text('receivers.none')}
            hint={text('receivers.noneHint')}
          />
        ) : (
          <OnlyDirect delivery={settings.delivery} what="destinations.rateLimits" />
        ))}
      {items.length > 0 && (
        <Rows
          label={text('receivers.title')}
          items={items}
          idOf={({ name }) => name}
          columns={[
            { title: text('receivers.name'), cell: ({ label }) => label },
            {
              title: text('receivers.column.rate'),
              numeric: true,
              cell: ({ rate, fixedRate }) => (
                <LearnedValue value={rate} fixed={fixedRate !== null} />
              ),
            },
            {
              title: text('receivers.column.sending'),
              numeric: true,
              cell: ({ sending }) => formatRate(sending),
            },
            {
              title: text('receivers.connections'),
              numeric: true,
              cell: ({ connections, fixedConnections }) => (
                <LearnedValue value={connections} fixed={fixedConnections !== null} />
              ),
            },
            {
              title: text('receivers.column.messages'),
              numeric: true,
              cell: ({ messagesPerConnection, fixedMessagesPerConnection }) => (
                <LearnedValue
                  value={messagesPerConnection}
                  fixed={fixedMessagesPerConnection !== null}
                />
              ),
            },
            {
              title: text('receivers.lastThrottled'),
              cell: (receiver) => <ReceiverReplies receiver={receiver} />,
            },
            {
              title: text('actions'),
              actions: true,
              cell: (receiver) => <ChangeReceiver receiver={receiver} />,
            },
          ]}
        />
      )}
    </>
  );
}

function ChangeReceiver({ receiver }: { receiver: Receiver }) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="compact-sm" variant="subtle" onClick={open}>
        {text('receivers.change')}
      </Button>
      <ReceiverDialog opened={opened} close={close} receiver={receiver} />
    </>
  );
}

/** A learned or manually set number. */
function LearnedValue({ value, fixed }: { value: number; fixed: boolean }) {
  return (
    <>
      {formatRate(value)}
      {fixed && (
        <Text size="xs" c="dimmed">
          {text('receivers.fixed')}
        </Text>
      )}
    </>
  );
}

/** The destination's last throttling reply. */
function ReceiverReplies({
  receiver: { slowedAt, slowedReason, session },
}: {
  receiver: Receiver;
}) {
  return (
    <>
      {slowedAt !== null && (
        <Text size="xs" className="breakable">
          <TimeText value={slowedAt} distance /> · {slowedReason}
        </Text>
      )}
      {session !== null && (
        <Text size="xs" className="breakable">
          <TimeText value={session.learntAt} distance /> · {session.reason}
        </Text>
      )}
    </>
  );
}

function formatRate(value: number): string {
  return formatNumber(value >= 10 ? Math.round(value) : Math.round(value * 100) / 100);
}
