import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { text } from '../texts/text.ts';
import { ConfirmByName } from './confirm-by-name.tsx';
import { useDialog } from './use-dialog.ts';

interface RemoveButtonProps {
  title: string;
  consequence: string;
  name: string;
  action?: string;
  dismiss?: string;
  disabled?: boolean;
  remove: () => Promise<unknown>;
  /** Additional options. */
  children?: ReactNode;
}

/** A button that deletes something after its name was typed. */
export function RemoveButton(props: RemoveButtonProps) {
  const { title, consequence, name, action, dismiss, disabled, remove, children } = props;
  const dialog = useDialog();
  const label = action ?? text('remove');
  return (
    <>
      <Button variant="default" className="destructive" disabled={disabled} onClick={dialog.open}>
        {label}
      </Button>
      <ConfirmByName
        {...dialog.props}
        title={title}
        consequence={consequence}
        name={name}
        action={label}
        {...(dismiss !== undefined && { dismiss })}
        confirm={remove}
      >
        {children}
      </ConfirmByName>
    </>
  );
}
