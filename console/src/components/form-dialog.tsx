import { Button, Group, Modal, Stack } from '@mantine/core';
import { type FormEvent, type ReactNode, useRef } from 'react';
import { useAction } from '../api/use-action.ts';
import { useUnsaved } from '../form/unsaved.ts';
import { text } from '../texts/text.ts';
import { DialogError } from './field.tsx';
import { ProblemAlert } from './problem-alert.tsx';

interface DialogFormProps {
  close: () => void;
  action: string;
  /** Closes the dialog on success; otherwise shows the error. */
  submit: () => Promise<unknown>;
  /** Whether something is unsaved, which keeps the dialog open. */
  isChanged?: () => boolean;
  /** The label of the button that closes it; default: “Cancel”. */
  dismiss?: string | undefined;
  /** What it does can't be undone. */
  destructive?: boolean | undefined;
  disabled?: boolean;
  /** Titles an error because of the state of the thing. */
  conflictTitle?: string | undefined;
  /** Stays open on success, to show the result. */
  stay?: boolean;
  /** The fields. A `Field` knows the error; others receive it. */
  children: ReactNode | ((error: unknown) => ReactNode);
}

interface FormDialogProps extends DialogFormProps {
  opened: boolean;
  title: string;
  size?: string | undefined;
}

/** A dialog with a form that calls the API. */
export function FormDialog({ opened, title, size, ...form }: FormDialogProps) {
  return (
    <Modal opened={opened} onClose={form.close} title={title} {...(size && { size })}>
      <DialogForm {...form} />
    </Modal>
  );
}

/**
 * The form of a dialog. Keep the field state inside the dialog, so it resets to the current data each time it opens.
 */
export function DialogForm(props: DialogFormProps) {
  const {
    close,
    action,
    submit,
    isChanged,
    dismiss,
    destructive,
    disabled = false,
    conflictTitle,
    stay = false,
    children,
  } = props;
  const isTyped = useRef(false);
  const send = useAction({
    mutationFn: submit,
    onSuccess() {
      isTyped.current = false;
      if (!stay && isChanged?.() !== true) close();
    },
  });
  // Its own end may leave the page, and what confirms a removal isn't kept.
  useUnsaved(() => isTyped.current && !send.isPending && !destructive);

  function onSubmit(event: FormEvent) {
    event.preventDefault();
    // React passes it on to a form that the dialog is opened from.
    event.stopPropagation();
    // A closing dialog still receives key events.
    if (!stay && isChanged?.() !== true && send.isSuccess && Date.now() - send.submittedAt < 1_000)
      return;
    send.mutate();
  }

  return (
    <form
      onSubmit={onSubmit}
      onInput={() => {
        isTyped.current = true;
      }}
    >
      <Stack>
        <DialogError value={send.error}>
          {typeof children === 'function' ? children(send.error) : children}
        </DialogError>
        <ProblemAlert error={send.error} onRefreshed={close} conflictTitle={conflictTitle} />
        <Group justify="flex-end" className="dialog-actions">
          <Button variant="default" onClick={close}>
            {dismiss ?? text(stay ? 'close' : 'cancel')}
          </Button>
          <Button
            type="submit"
            disabled={disabled}
            loading={send.isPending}
            {...(destructive && { color: 'red' })}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
