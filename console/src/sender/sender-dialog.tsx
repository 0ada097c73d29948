import { TagsInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { Sender } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { Field } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { text } from '../texts/text.ts';

/** Adds a sender, or changes its display names. */
export function SenderDialog(props: { opened: boolean; close: () => void; sender?: Sender }) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const { sender } = props;
  const [address, setAddress] = useState(sender?.address ?? '');
  const [displayNames, setNames] = useState(sender?.displayNames ?? []);

  async function submit() {
    const path = { accountId, address: address.trim() };
    await answerOf(
      api.PUT('/accounts/{accountId}/senders/{address}', {
        params: { path },
        body: { displayNames },
      }),
    );
    await client.invalidateQueries({ queryKey: ['senders', accountId] });
  }

  return (
    <FormDialog
      {...props}
      title={text(sender === undefined ? 'senders.add' : 'senders.change')}
      action={text('save')}
      submit={submit}
    >
      {(error) => (
        <>
          <Field
            field="address"
            label={text('senders.address')}
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
    </FormDialog>
  );
}
