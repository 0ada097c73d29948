import { Modal, NumberInput, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ifUnchanged } from '../api/if-unchanged.ts';
import type { Receiver } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { DialogForm } from '../components/form-dialog.tsx';
import { showNotice } from '../components/notices.tsx';
import { text } from '../texts/text.ts';

type NumberFieldValue = number | string;

interface ReceiverDialogProps {
  opened: boolean;
  close: () => void;
  receiver: Receiver;
}

/** Sets the rate limits of a destination; empty fields are learned. */
export function ReceiverDialog({ opened, ...form }: ReceiverDialogProps) {
  const title = text('receivers.changeTitle', { name: form.receiver.label });
  return (
    <Modal opened={opened} onClose={form.close} title={title}>
      <ReceiverForm {...form} />
    </Modal>
  );
}

function ReceiverForm({ close, ...props }: Omit<ReceiverDialogProps, 'opened'>) {
  // Edits the data shown when the dialog opened, even if the page reloads it.
  const [receiver] = useState(props.receiver);
  const { name, label } = receiver;
  const client = useQueryClient();
  const [rate, setRate] = useState<NumberFieldValue>(receiver.fixedRate ?? '');
  const [connections, setConnections] = useState<NumberFieldValue>(receiver.fixedConnections ?? '');
  const [messages, setMessages] = useState<NumberFieldValue>(
    receiver.fixedMessagesPerConnection ?? '',
  );

  async function submit() {
    const path = '/installation/receivers/{receiver}/settings';
    const params = { path: { receiver: name } };
    const body = {
      rate: numberOf(rate),
      connections: numberOf(connections),
      messagesPerConnection: numberOf(messages),
    };
    await ifUnchanged(
      {
        rate: receiver.fixedRate,
        connections: receiver.fixedConnections,
        messagesPerConnection: receiver.fixedMessagesPerConnection,
      },
      () => api.GET(path, { params }),
      (precondition) => api.PUT(path, { params, body, ...precondition }),
    );
    await client.invalidateQueries({ queryKey: ['receivers'] });
    showNotice(text('receivers.saved', { name: label }));
  }

  return (
    <DialogForm close={close} action={text('receivers.save')} submit={submit}>
      {(error) => (
        <>
          <Text size="sm" c="dimmed">
            {text('receivers.changeHint')}
          </Text>
          <NumberInput
            label={text('receivers.rate')}
            placeholder={text('receivers.learned')}
            min={0}
            max={100_000}
            value={rate}
            onChange={setRate}
            error={reasonFor(error, 'rate')}
          />
          <NumberInput
            label={text('receivers.connections')}
            placeholder={text('receivers.learned')}
            min={1}
            max={10_000}
            allowDecimal={false}
            value={connections}
            onChange={setConnections}
            error={reasonFor(error, 'connections')}
          />
          <NumberInput
            label={text('receivers.messages')}
            placeholder={text('receivers.learned')}
            min={1}
            max={100_000}
            allowDecimal={false}
            value={messages}
            onChange={setMessages}
            error={reasonFor(error, 'messagesPerConnection')}
          />
        </>
      )}
    </DialogForm>
  );
}

function numberOf(value: NumberFieldValue): number | null {
  return value === '' ? null : Number(value);
}
