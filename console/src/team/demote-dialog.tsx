import { FormDialog } from '../components/form-dialog.tsx';
import { text } from '../texts/text.ts';
import { type KeyTransfer, KeyTransferChoice } from './key-transfer.tsx';

interface DemoteDialogProps {
  title: string;
  keys: KeyTransfer;
  opened: boolean;
  close: () => void;
  confirm: () => Promise<unknown>;
}

/** Asks what to do with the API keys of a person who gets a lower role. */
export function DemoteDialog({ keys, confirm, ...dialog }: DemoteDialogProps) {
  return (
    <FormDialog {...dialog} action={text('team.demote')} submit={confirm}>
      {() => <KeyTransferChoice keys={keys} />}
    </FormDialog>
  );
}
