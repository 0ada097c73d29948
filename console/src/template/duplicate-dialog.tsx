import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { answerOf, api } from '../api/management.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { text } from '../texts/text.ts';
import { TemplateNameFields } from './template-name-fields.tsx';

interface DuplicateDialogProps {
  opened: boolean;
  close: () => void;
  template: { readonly id: string; readonly name: string };
}

/** Makes a template whose draft is the content of another, and leads to its editor. */
export function DuplicateDialog({ template, ...dialog }: DuplicateDialogProps) {
  const account = useAccountId();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState(() => text('templates.copyOf', { name: template.name }));
  const [id, setId] = useState(`${template.id.slice(0, 59)}-copy`);

  async function submit() {
    await answerOf(
      api.POST('/accounts/{accountId}/templates/{templateId}/duplicate', {
        params: { path: { accountId: account, templateId: template.id } },
        body: { id, name },
      }),
    );
    await client.invalidateQueries({ queryKey: ['templates', account] });
    await navigate({ to: '/$account/templates/$template', params: { account, template: id } });
  }

  return (
    <FormDialog
      {...dialog}
      title={text('templates.duplicateTitle', { name: template.name })}
      action={text('templates.duplicate')}
      submit={submit}
    >
      {(error) => (
        <TemplateNameFields
          name={name}
          id={id}
          changeName={setName}
          changeId={setId}
          error={error}
        />
      )}
    </FormDialog>
  );
}
