import './destination-texts.ts';
import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useSettings } from '../account/use-settings.ts';
import type { Receiver } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
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
    queryFn: () => api.get('/installation/receivers'),
    refetchInterval: 5_000,
  });
  const settings = useSettings();
  const delivery = settings.data?.delivery;
  const items = receivers.data?.items ?? [];
  return (
    <>
      <PageHeading title={text('destinations.title')} hint={text('receivers.hint')} />
      <DestinationTabs />
      {receivers.isSuccess &&
      items.length === 0 &&
      delivery !== undefined &&
      delivery !== 'direct' ? (
        <OnlyDirect delivery={delivery} what="destinations.rateLimits" />
      ) : (
        <ListBody
          label={text('receivers.title')}
          pages={{ ...receivers, items, isPending: receivers.isPending || settings.isPending }}
          empty={{
            icon: 'destinations',
            title: text('receivers.none'),
            hint: text('receivers.noneHint'),
          }}
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
          <TimeText value={slowedAt} as="distance" /> · {slowedReason}
        </Text>
      )}
      {session !== null && (
        <Text size="xs" className="breakable">
          <TimeText value={session.learntAt} as="distance" /> · {session.reason}
        </Text>
      )}
    </>
  );
}

function formatRate(value: number): string {
  return formatNumber(value >= 10 ? Math.round(value) : Math.round(value * 100) / 100);
}
