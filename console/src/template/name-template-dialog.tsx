import { SimpleGrid } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { Field, IdField } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { text } from '../texts/text.ts';

interface NameTemplateDialogProps {
  opened: boolean;
  close: () => void;
  title: string;
  action: string;
  name: string;
  id: string;
  changeName: (name: string) => void;
  changeId: (id: string) => void;
  /** Creates the template with this name and id. */
  make: () => Promise<unknown>;
  size?: string;
  /** Choices above the name. */
  children?: ReactNode;
}

/** Asks for the name and id of a new template, then opens its editor. */
export function NameTemplateDialog(props: NameTemplateDialogProps) {
  const { name, id, changeName, changeId, make, children, ...dialog } = props;
  const account = useAccountId();
  const refresh = useRefresh('templates');
  const navigate = useNavigate();

  async function submit() {
    await make();
    await refresh();
    await navigate({ to: '/$account/templates/$template', params: { account, template: id } });
  }

  return (
    <FormDialog {...dialog} submit={submit}>
      {children}
      <SimpleGrid cols={{ base: 1, sm: children === undefined ? 1 : 2 }}>
        <Field
          field="name"
          label={text('templates.name')}
          required
          maxLength={200}
          value={name}
          change={changeName}
          {...(children === undefined && { 'data-autofocus': true })}
        />
        <IdField
          field="id"
          label={text('templates.id')}
          description={text('templates.idHint')}
          value={id}
          change={changeId}
        />
      </SimpleGrid>
    </FormDialog>
  );
}
