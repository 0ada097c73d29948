import { Modal, TagsInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useAccountId } from '../account/use-me.ts';
import { ifUnchanged } from '../api/if-unchanged.ts';
import type { Sender } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { Field } from '../components/field.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { useForm } from '../form/use-form.ts';
import { text } from '../texts/text.ts';
import { useAddSender } from './use-add-sender.ts';

interface SenderDialogProps {
  opened: boolean;
  close: () => void;
  /** If given, it is edited. */
  sender?: Sender;
}

const senderPath = '/accounts/{accountId}/senders/{address}';

function toValues(sender: Sender | undefined) {
  return { address: sender?.address ?? '', displayNames: sender?.displayNames ?? [] };
}

/** Creates a sender or edits its display names. */
export function SenderDialog({ opened, ...form }: SenderDialogProps) {
  const title = text(form.sender === undefined ? 'senders.add' : 'senders.change');
  return (
    <Modal opened={opened} onClose={form.close} title={title}>
      <SenderForm {...form} />
    </Modal>
  );
}

function SenderForm({ close, ...props }: Omit<SenderDialogProps, 'opened'>) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const { add, sendsLink } = useAddSender();
  const { values, change, stored, edit, save } = useForm({
    stored: props.sender,
    toValues,
    async save({ values, seen, stored: sender }) {
      const { displayNames } = values;
      const address = values.address.trim();
      const params = { path: { accountId, address } };
      if (sender === undefined) return add({ address, displayNames });
      const saved = await ifUnchanged(
        seen,
        () => api.GET(senderPath, { params }),
        (precondition) => api.PUT(senderPath, { params, body: { displayNames }, ...precondition }),
      );
      await client.invalidateQueries({ queryKey: ['senders', accountId] });
      return saved;
    },
  });
  const isNew = stored === undefined;

  return (
    <DialogForm
      close={close}
      action={text(isNew && sendsLink ? 'senders.addAndConfirm' : 'save')}
      submit={save}
      isChanged={edit.isChanged}
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
