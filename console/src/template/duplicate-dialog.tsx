import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { text } from '../texts/text.ts';
import { NameTemplateDialog } from './name-template-dialog.tsx';

interface DuplicateDialogProps {
  opened: boolean;
  close: () => void;
  template: { readonly id: string; readonly name: string };
}

/** Creates a template with the content of another as its draft. */
export function DuplicateDialog({ template, ...dialog }: DuplicateDialogProps) {
  const accountId = useAccountId();
  const [name, setName] = useState(() => text('templates.copyOf', { name: template.name }));
  const [id, setId] = useState(`${template.id.slice(0, 59)}-copy`);
  return (
    <NameTemplateDialog
      {...dialog}
      title={text('templates.duplicateTitle', { name: template.name })}
      action={text('templates.duplicate')}
      name={name}
      id={id}
      changeName={setName}
      changeId={setId}
      make={() =>
        api.post(
          '/accounts/{accountId}/templates/{templateId}/duplicate',
          { accountId, templateId: template.id },
          { id, name },
        )
      }
    />
  );
}
