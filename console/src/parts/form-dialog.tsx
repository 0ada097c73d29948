import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { text } from '../texts/text.ts';
import { ProblemAlert } from './problem-alert.tsx';

interface FormDialogProps {
  opened: boolean;
  close: () => void;
  title: string;
  action: string;
  /** Closes the dialog where it works, else says what is wrong. */
  submit: () => Promise<unknown>;
  /** The fields; they are told what was refused. */
  children: (error: unknown) => ReactNode;
}

/** A dialog with a form that is sent to the API. */
export function FormDialog({ opened, close, title, action, submit, children }: FormDialogProps) {
  const send = useMutation({ mutationFn: submit, onSuccess: close });

  function onSubmit(event: FormEvent) {
    event.preventDefault();
    send.mutate();
  }

  return (
    <Modal opened={opened} onClose={close} title={title} onExitTransitionEnd={send.reset}>
      <form onSubmit={onSubmit}>
        <Stack>
          {children(send.error)}
          <ProblemAlert error={send.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {text('cancel')}
            </Button>
            <Button type="submit" loading={send.isPending}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
