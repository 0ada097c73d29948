import { NumberInput, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Receiver } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { tell } from '../parts/notices.tsx';
import { text } from '../texts/text.ts';

type Figure = number | string;

/** Fixes the pace of a receiver; a field that is empty is learnt. */
export function ReceiverDialog({ receiver, close }: { receiver: Receiver; close: () => void }) {
  const { name, label } = receiver;
  const client = useQueryClient();
  const [rate, setRate] = useState<Figure>(receiver.fixedRate ?? '');
  const [connections, setConnections] = useState<Figure>(receiver.fixedConnections ?? '');
  const [messages, setMessages] = useState<Figure>(receiver.fixedMessagesPerConnection ?? '');

  async function submit() {
    await answerOf(
      api.POST('/installation/receivers', {
        body: {
          name,
          ...(rate !== '' && { rate: Number(rate) }),
          ...(connections !== '' && { connections: Number(connections) }),
          ...(messages !== '' && { messagesPerConnection: Number(messages) }),
        },
      }),
    );
    await client.invalidateQueries({ queryKey: ['receivers'] });
    tell(text('receivers.saved', { name: label }));
  }

  return (
    <FormDialog
      opened
      close={close}
      title={text('receivers.changeTitle', { name: label })}
      action={text('receivers.save')}
      submit={submit}
    >
      {(error) => (
        <>
          <Text size="sm" c="dimmed">
            {text('receivers.changeHint')}
          </Text>
          <NumberInput
            label={text('receivers.rate')}
            placeholder={text('receivers.learnt')}
            min={0}
            max={100_000}
            value={rate}
            onChange={setRate}
            error={reasonFor(error, 'rate')}
          />
          <NumberInput
            label={text('receivers.connections')}
            placeholder={text('receivers.learnt')}
            min={1}
            max={10_000}
            allowDecimal={false}
            value={connections}
            onChange={setConnections}
            error={reasonFor(error, 'connections')}
          />
          <NumberInput
            label={text('receivers.messages')}
            placeholder={text('receivers.learnt')}
            min={1}
            max={100_000}
            allowDecimal={false}
            value={messages}
            onChange={setMessages}
            error={reasonFor(error, 'messagesPerConnection')}
          />
        </>
      )}
    </FormDialog>
  );
}
