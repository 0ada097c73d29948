import { Text } from '@mantine/core';
import { FormDialog } from './form-dialog.tsx';

interface ConfirmProps {
  opened: boolean;
  close: () => void;
  title: string;
  /** What will happen. */
  consequence: string;
  action: string;
  confirm: () => Promise<unknown>;
}

/** Asks once before something that destroys nothing but changes what others rely on. */
export function Confirm({ consequence, confirm, ...dialog }: ConfirmProps) {
  return (
    <FormDialog {...dialog} submit={confirm}>
      {() => <Text size="sm">{consequence}</Text>}
    </FormDialog>
  );
}
