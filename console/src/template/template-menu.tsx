import { ActionIcon, Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { createNew, deleteUnchanged } from '../api/if-unchanged.ts';
import type { Template } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useAction } from '../api/use-action.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { Icon } from '../components/icon.tsx';
import { showNotice } from '../components/notices.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { text } from '../texts/text.ts';
import { NameTemplateDialog } from './name-template-dialog.tsx';

interface TemplateMenuProps {
  template: Template;
  /** Next to the buttons of a page instead of on a card. */
  onPage?: boolean;
  /** Items before those of the menu. */
  children?: ReactNode;
}

/** The actions of a template: duplicate, and remove with undo. */
export function TemplateMenu({ template, onPage = false, children }: TemplateMenuProps) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('templates');
  const navigate = useNavigate();
  const duplicate = useDialog();
  const { id, name, publishedVersion, hasDraft } = template;
  const params = { accountId, templateId: id };
  const path = '/accounts/{accountId}/templates/{templateId}';

  const remove = useAction({
    mutationFn: () => deleteUnchanged(path, params, { name, publishedVersion, hasDraft }),
    async onSuccess() {
      await navigate({ to: '/$account/templates', params: { account: accountId } });
      await refresh();
      showNotice(text('undo.removed', { name }), async () => {
        await createNew('id', path, params, { name });
        await refresh();
      });
    },
    async onError(error) {
      await refresh();
      showNotice(error.message);
    },
  });

  if (!may('templates:write')) return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon
            {...(onPage
              ? { variant: 'default', size: 36 }
              : { variant: 'subtle', color: 'gray', c: 'bright' })}
            aria-label={text('actionsFor', { name })}
            loading={remove.isPending}
          >
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {children}
          <Menu.Item leftSection={<Icon name="copy" size={16} />} onClick={duplicate.open}>
            {text('templates.duplicate')}
          </Menu.Item>
          {may('templates:publish') && (
            <Menu.Item
              color="red"
              leftSection={<Icon name="trash" size={16} />}
              onClick={() => remove.mutate()}
            >
              {text('remove')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <DuplicateDialog {...duplicate.props} template={template} />
    </>
  );
}

interface DuplicateDialogProps {
  opened: boolean;
  close: () => void;
  template: { readonly id: string; readonly name: string };
}

/** Creates a template with the content of another as its draft. */
function DuplicateDialog({ template, ...dialog }: DuplicateDialogProps) {
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
