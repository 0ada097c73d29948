import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { text } from '../texts/text.ts';
import { ProblemAlert } from './problem-alert.tsx';

interface ConfirmByNameProps {
  opened: boolean;
  close: () => void;
  title: string;
  /** The consequences, and what can't be undone. */
  consequence: string;
  /** The text to type. */
  name: string;
  action: string;
  confirm: () => Promise<unknown>;
  /** The label of the button that closes it; default: “Cancel”. */
  dismiss?: string;
  /** Additional options. */
  children?: ReactNode;
}

/** Asks to type the name of what is about to be deleted. */
export function ConfirmByName(props: ConfirmByNameProps) {
  const [typed, setTyped] = useState('');
  const send = useAction({
    mutationFn: props.confirm,
    onSuccess() {
      setTyped('');
      props.close();
    },
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    // React passes it on to a form that the dialog is opened from.
    event.stopPropagation();
    send.mutate();
  }

  return (
    <Modal opened={props.opened} onClose={props.close} title={props.title}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{props.consequence}</Text>
          {props.children}
          <TextInput
            label={text('confirm.type', { name: props.name })}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
          <ProblemAlert error={send.error} onRefreshed={props.close} />
          <Group justify="flex-end">
            <Button variant="default" onClick={props.close}>
              {props.dismiss ?? text('cancel')}
            </Button>
            <Button
              color="red"
              type="submit"
              disabled={typed !== props.name}
              loading={send.isPending}
            >
              {props.action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
