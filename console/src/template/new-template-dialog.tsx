import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { createNew } from '../api/if-unchanged.ts';
import { api } from '../api/management.ts';
import { text } from '../texts/text.ts';
import { NameTemplateDialog } from './name-template-dialog.tsx';

/** Creates a template. The id is derived from the name until one is typed. */
export function NewTemplateDialog(props: { opened: boolean; close: () => void }) {
  const accountId = useAccountId();
  const [name, setName] = useState('');
  const [typedId, setTypedId] = useState<string>();
  const id = typedId ?? idFrom(name);
  return (
    <NameTemplateDialog
      {...props}
      title={text('templates.add')}
      action={text('templates.create')}
      name={name}
      id={id}
      changeName={setName}
      changeId={setTypedId}
      make={() =>
        createNew('id', (precondition) =>
          api.PUT('/accounts/{accountId}/templates/{templateId}', {
            params: { path: { accountId, templateId: id } },
            body: { name },
            ...precondition,
          }),
        )
      }
    />
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
