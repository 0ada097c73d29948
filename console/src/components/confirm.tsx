import { Text } from '@mantine/core';
import { FormDialog } from './form-dialog.tsx';

interface ConfirmProps {
  opened: boolean;
  close: () => void;
  title: string;
  /** The consequences. */
  consequence: string;
  action: string;
  confirm: () => Promise<unknown>;
}

/** Asks for confirmation of a change that isn't destructive but affects others. */
export function Confirm({ consequence, confirm, ...dialog }: ConfirmProps) {
  return (
    <FormDialog {...dialog} submit={confirm}>
      {() => <Text size="sm">{consequence}</Text>}
    </FormDialog>
  );
}
