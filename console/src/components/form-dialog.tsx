import { Button, Group, Modal, Stack } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { useAction } from '../api/use-action.ts';
import { text } from '../texts/text.ts';
import { ProblemAlert } from './problem-alert.tsx';

interface DialogFormProps {
  close: () => void;
  action: string;
  /** Closes the dialog where it works, else says what is wrong. */
  submit: () => Promise<unknown>;
  /** The fields; they are told what was refused. */
  children: (error: unknown) => ReactNode;
}

interface FormDialogProps extends DialogFormProps {
  opened: boolean;
  title: string;
}

/** A dialog with a form that is sent to the API. */
export function FormDialog({ opened, title, ...form }: FormDialogProps) {
  return (
    <Modal opened={opened} onClose={form.close} title={title}>
      <DialogForm {...form} />
    </Modal>
  );
}

/**
 * The form of a dialog. What keeps its fields may stand inside the dialog too: they then begin anew each time it opens, with
 * the thing as it is shown at that moment.
 */
export function DialogForm({ close, action, submit, children }: DialogFormProps) {
  const send = useAction({ mutationFn: submit, onSuccess: close });

  function onSubmit(event: FormEvent) {
    event.preventDefault();
    // A dialog that closes still takes a key.
    if (send.isSuccess && Date.now() - send.submittedAt < 1_000) return;
    send.mutate();
  }

  return (
    <form onSubmit={onSubmit}>
      <Stack>
        {children(send.error)}
        <ProblemAlert error={send.error} onRefreshed={close} />
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
  );
}
