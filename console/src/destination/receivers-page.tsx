import { useRefresh } from '../api/use-refresh.ts';
import { Note } from '../components/note.tsx';
import './destination-texts.ts';
import { Button, NumberInput, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useSettings } from '../account/use-settings.ts';
import { putUnchanged } from '../api/if-unchanged.ts';
import type { Receiver } from '../api/management.generated.ts';
import { reasonFor } from '../api/problem.ts';
import { useGet } from '../api/use-get.ts';
import { dialogOf } from '../components/dialog-of.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useForm } from '../form/use-form.ts';
import { formatNumber } from '../format/format-number.ts';
import { text } from '../texts/text.ts';
import { OnlyDirect } from './only-direct.tsx';

/** For operators: how fast receivers take mail, learned or set. */
export function ReceiversPage() {
  const receivers = useGet('/installation/receivers', { refetchInterval: 5_000 });
  const settings = useSettings();
  const delivery = settings.data?.delivery;
  const items = receivers.data?.items ?? [];
  return (
    <>
      <PageHeading title={text('nav.receivers')} hint={text('receivers.hint')} />
      {receivers.isSuccess &&
      items.length === 0 &&
      delivery !== undefined &&
      delivery !== 'direct' ? (
        <OnlyDirect delivery={delivery} what="destinations.rateLimits" />
      ) : (
        <ListBody
          label={text('nav.receivers')}
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
      {fixed && <Note>{text('receivers.fixed')}</Note>}
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

type NumberFieldValue = number | string;

interface ReceiverDialogProps {
  close: () => void;
  receiver: Receiver;
}

/** Sets the rate limits of a destination; empty fields are learned. */
const ReceiverDialog = dialogOf(ReceiverForm, ({ receiver }) =>
  text('receivers.changeTitle', { name: receiver.label }),
);

function ReceiverForm({ close, ...props }: ReceiverDialogProps) {
  const { name, label } = props.receiver;
  const { values, change, dialog } = useForm({
    stored: settingsOf(props.receiver),
    toValues: ({ rate, connections, messagesPerConnection }): Values => ({
      rate: rate ?? '',
      connections: connections ?? '',
      messagesPerConnection: messagesPerConnection ?? '',
    }),
    save({ values, stored }) {
      const path = '/installation/receivers/{receiver}/settings';
      const params = { receiver: name };
      const body = {
        rate: numberOf(values.rate),
        connections: numberOf(values.connections),
        messagesPerConnection: numberOf(values.messagesPerConnection),
      };
      return putUnchanged(path, params, stored, body);
    },
    notice: text('receivers.saved', { name: label }),
    reload: useRefresh('/installation/receivers'),
  });

  return (
    <DialogForm close={close} action={text('receivers.save')} {...dialog}>
      {(error) => (
        <>
          <Note size="sm">{text('receivers.changeHint')}</Note>
          {limits.map(([name, label, allowed]) => (
            <NumberInput
              key={name}
              label={text(label)}
              placeholder={text('receivers.learned')}
              {...allowed}
              value={values[name]}
              onChange={(value) => change({ [name]: value })}
              error={reasonFor(error, name)}
            />
          ))}
        </>
      )}
    </DialogForm>
  );
}

const limits = [
  ['rate', 'receivers.rate', { min: 0, max: 100_000 }],
  ['connections', 'receivers.connections', { min: 1, max: 10_000, allowDecimal: false }],
  ['messagesPerConnection', 'receivers.messages', { min: 1, max: 100_000, allowDecimal: false }],
] as const;

/** The edited settings. */
function settingsOf(receiver: Receiver) {
  return {
    rate: receiver.fixedRate,
    connections: receiver.fixedConnections,
    messagesPerConnection: receiver.fixedMessagesPerConnection,
  };
}

type Values = Record<keyof ReturnType<typeof settingsOf>, NumberFieldValue>;

function numberOf(value: NumberFieldValue): number | null {
  return value === '' ? null : Number(value);
}
