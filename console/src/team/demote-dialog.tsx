import { FormDialog } from '../parts/form-dialog.tsx';
import { text } from '../texts/text.ts';
import { KeepKeys, type KeysToKeep } from './keep-keys.tsx';

interface DemoteDialogProps {
  name: string;
  keys: KeysToKeep;
  opened: boolean;
  close: () => void;
  confirm: () => Promise<unknown>;
}

/** Asks what becomes of the API keys of somebody who gets a lower role. */
export function DemoteDialog({ name, keys, confirm, ...dialog }: DemoteDialogProps) {
  return (
    <FormDialog
      {...dialog}
      title={text('team.demoteTitle', { name })}
      action={text('team.demote')}
      submit={confirm}
    >
      {() => <KeepKeys keys={keys} />}
    </FormDialog>
  );
}
