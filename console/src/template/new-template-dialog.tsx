import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { answerOf, api } from '../api/management.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { text } from '../texts/text.ts';
import { TemplateNameFields } from './template-name-fields.tsx';

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
        <TemplateNameFields
          name={name}
          id={id}
          changeName={setName}
          changeId={setTypedId}
          error={error}
        />
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
