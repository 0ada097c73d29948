import { Modal, TagsInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { ifUnchanged } from '../api/if-unchanged.ts';
import type { Sender } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { Field } from '../components/field.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { text } from '../texts/text.ts';
import { useAddSender } from './use-add-sender.ts';

interface SenderDialogProps {
  opened: boolean;
  close: () => void;
  /** If given, it is edited. */
  sender?: Sender;
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
  // Edits the data shown when the dialog opened, even if the page reloads it.
  const [sender] = useState(props.sender);
  const [address, setAddress] = useState(sender?.address ?? '');
  const [displayNames, setNames] = useState(sender?.displayNames ?? []);
  const { add, sendsLink } = useAddSender();
  const isNew = sender === undefined;

  async function submit() {
    const path = '/accounts/{accountId}/senders/{address}';
    const params = { path: { accountId, address: address.trim() } };
    if (sender === undefined) return add({ address: address.trim(), displayNames });
    await ifUnchanged(
      { displayNames: sender.displayNames },
      () => api.GET(path, { params }),
      (precondition) => api.PUT(path, { params, body: { displayNames }, ...precondition }),
    );
    await client.invalidateQueries({ queryKey: ['senders', accountId] });
  }

  return (
    <DialogForm
      close={close}
      action={text(isNew && sendsLink ? 'senders.addAndConfirm' : 'save')}
      submit={submit}
    >
      {(error) => (
        <>
          <Field
            field="address"
            label={text('senders.address')}
            description={isNew && sendsLink ? text('senders.addHint') : undefined}
            type="email"
            required
            value={address}
            disabled={sender !== undefined}
            change={setAddress}
            error={error}
            data-autofocus
          />
          <TagsInput
            label={text('senders.names')}
            description={text('senders.namesHint')}
            value={displayNames}
            onChange={setNames}
            error={reasonFor(error, 'displayNames')}
          />
        </>
      )}
    </DialogForm>
  );
}
