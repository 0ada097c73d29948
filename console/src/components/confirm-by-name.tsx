import { Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { text } from '../texts/text.ts';
import { FormDialog } from './form-dialog.tsx';

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
  const { consequence, name, confirm, children, ...dialog } = props;
  const [typed, setTyped] = useState('');
  async function submit() {
    await confirm();
    setTyped('');
  }
  return (
    <FormDialog {...dialog} destructive disabled={typed !== name} submit={submit}>
      <Text size="sm">{consequence}</Text>
      {children}
      <TextInput
        label={text('confirm.type', { name })}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
    </FormDialog>
  );
}
