import { TagsInput } from '@mantine/core';
import { useAccountId } from '../account/use-me.ts';
import { putUnchanged } from '../api/if-unchanged.ts';
import type { Sender } from '../api/management.generated.ts';
import { reasonFor } from '../api/problem.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { dialogOf } from '../components/dialog-of.tsx';
import { Field } from '../components/field.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { useForm } from '../form/use-form.ts';
import { text } from '../texts/text.ts';
import { useAddSender } from './use-add-sender.ts';

interface SenderDialogProps {
  close: () => void;
  /** If given, it is edited. */
  sender?: Sender;
}

const senderPath = '/accounts/{accountId}/senders/{address}';

function toValues(sender: Sender | undefined) {
  return { address: sender?.address ?? '', displayNames: sender?.displayNames ?? [] };
}

/** Creates a sender or edits its display names. */
export const SenderDialog = dialogOf(SenderForm, ({ sender }) =>
  text(sender === undefined ? 'senders.add' : 'senders.change'),
);

function SenderForm({ close, ...props }: SenderDialogProps) {
  const accountId = useAccountId();
  const refresh = useRefresh('senders');
  const { add, sendsLink } = useAddSender();
  const { values, change, stored, dialog } = useForm({
    stored: props.sender,
    toValues,
    async save({ values, seen, stored: sender }) {
      const { displayNames } = values;
      const address = values.address.trim();
      const params = { accountId, address };
      if (sender === undefined) return add({ address, displayNames });
      const saved = await putUnchanged(senderPath, params, seen, { displayNames });
      await refresh();
      return saved;
    },
  });
  const isNew = stored === undefined;

  return (
    <DialogForm
      close={close}
      action={text(isNew && sendsLink ? 'senders.addAndConfirm' : 'save')}
      {...dialog}
    >
      {(error) => (
        <>
          <Field
            field="address"
            label={text('senders.address')}
            description={isNew && sendsLink ? text('senders.addHint') : undefined}
            type="email"
            required
            value={values.address}
            disabled={!isNew}
            change={(address) => change({ address })}
            error={error}
            data-autofocus
          />
          <TagsInput
            label={text('senders.names')}
            description={text('senders.namesHint')}
            value={[...values.displayNames]}
            onChange={(displayNames) => change({ displayNames })}
            error={reasonFor(error, 'displayNames')}
          />
        </>
      )}
    </DialogForm>
  );
}
