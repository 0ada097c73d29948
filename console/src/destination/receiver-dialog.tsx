import { NumberInput, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { putUnchanged } from '../api/if-unchanged.ts';
import type { Receiver } from '../api/management.generated.ts';
import { reasonFor } from '../api/problem.ts';
import { dialogOf } from '../components/dialog-of.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { showNotice } from '../components/notices.tsx';
import { useForm } from '../form/use-form.ts';
import { text } from '../texts/text.ts';

type NumberFieldValue = number | string;

interface ReceiverDialogProps {
  close: () => void;
  receiver: Receiver;
}

/** Sets the rate limits of a destination; empty fields are learned. */
export const ReceiverDialog = dialogOf(ReceiverForm, ({ receiver }) =>
  text('receivers.changeTitle', { name: receiver.label }),
);

function ReceiverForm({ close, ...props }: ReceiverDialogProps) {
  const client = useQueryClient();
  const { name, label } = props.receiver;
  const { values, change, edit, save } = useForm({
    stored: settingsOf(props.receiver),
    toValues: ({ rate, connections, messagesPerConnection }): Values => ({
      rate: rate ?? '',
      connections: connections ?? '',
      messagesPerConnection: messagesPerConnection ?? '',
    }),
    async save({ values, stored }) {
      const path = '/installation/receivers/{receiver}/settings';
      const params = { receiver: name };
      const body = {
        rate: numberOf(values.rate),
        connections: numberOf(values.connections),
        messagesPerConnection: numberOf(values.messagesPerConnection),
      };
      const saved = await putUnchanged(path, params, stored, body);
      await client.invalidateQueries({ queryKey: ['receivers'] });
      showNotice(text('receivers.saved', { name: label }));
      return saved;
    },
  });

  return (
    <DialogForm
      close={close}
      action={text('receivers.save')}
      submit={save}
      isChanged={edit.isChanged}
    >
      {(error) => (
        <>
          <Text size="sm" c="dimmed">
            {text('receivers.changeHint')}
          </Text>
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
