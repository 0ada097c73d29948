import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { answerOf, api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { text } from '../texts/text.ts';

/** Makes a template and leads to its editor. The id follows the name until somebody types one. */
export function NewTemplateDialog(props: { opened: boolean; close: () => void }) {
  const account = useAccountId();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [typedId, setTypedId] = useState<string>();
  const id = typedId ?? idFrom(name);

  async function submit() {
    await answerOf(
      api.PUT('/accounts/{accountId}/templates/{templateId}', {
        params: { path: { accountId: account, templateId: id } },
        body: { name },
        headers: { 'if-none-match': '*' },
      }),
    );
    await client.invalidateQueries({ queryKey: ['templates', account] });
    await navigate({ to: '/$account/templates/$template', params: { account, template: id } });
  }

  return (
    <FormDialog
      {...props}
      title={text('templates.add')}
      action={text('templates.make')}
      submit={submit}
    >
      {(error) => (
        <>
          <TextInput
            label={text('templates.name')}
            required
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={reasonFor(error, 'name')}
            data-autofocus
          />
          <TextInput
            label={text('templates.id')}
            description={text('templates.idHint')}
            required
            pattern="[A-Za-z0-9_\-]{1,64}"
            value={id}
            onChange={(event) => setTypedId(event.currentTarget.value)}
            error={reasonFor(error, 'id')}
          />
        </>
      )}
    </FormDialog>
  );
}

function idFrom(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 64);
}
