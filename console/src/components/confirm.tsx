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
  /** The label of the button that closes it; default: “Cancel”. */
  dismiss?: string;
  /** Titles an error because of the state of the thing. */
  conflictTitle?: string;
  /** What it does can't be undone or stops others. */
  destructive?: boolean;
}

/** Asks for confirmation of a change that affects others. */
export function Confirm({ consequence, confirm, ...dialog }: ConfirmProps) {
  return (
    <FormDialog {...dialog} submit={confirm}>
      {() => <Text size="sm">{consequence}</Text>}
    </FormDialog>
  );
}
