import { Button, Group, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMay } from '../../account/use-me.ts';
import { api, ifMatch } from '../../api/management.ts';
import { useAction } from '../../api/use-action.ts';
import { showNotice } from '../../components/notices.tsx';
import { useRequestedDialog } from '../../layout/requested-dialog.ts';
import { text } from '../../texts/text.ts';
import { loadImages } from '../template-images.ts';
import { useTemplate, useTemplatePath } from '../use-template.ts';
import { PublishDialog, usePublish } from './publish-dialog.tsx';
import { TestDialog } from './test-dialog.tsx';
import type { EditedDraft } from './use-save-draft.ts';

/** Whether the draft is saved. */
export function DraftState({ draft }: { draft: EditedDraft }) {
  return (
    <Text span size="sm" c="dimmed" role="status" className="said">
      {draft.changed ? text('editor.unsaved') : draft.stored && text('editor.saved')}
    </Text>
  );
}

interface EditorActionsProps {
  draft: EditedDraft;
  /** The menu of the template, with items before its own. */
  menu: (items?: ReactNode) => ReactNode;
}

/** Save, test, publish and discard the draft. */
export function EditorActions({ draft, menu }: EditorActionsProps) {
  const may = useMay();
  const path = useTemplatePath();
  const client = useQueryClient();
  const { data: template } = useTemplate();
  const [publishing, publishDialog] = useDisclosure();
  const publish = usePublish(draft);
  const [testing, test] = useDisclosure();
  useRequestedDialog('send-test', test.open);
  async function refresh() {
    await client.resetQueries({ queryKey: ['draft', path.accountId, path.templateId] });
    await client.invalidateQueries({ queryKey: ['templates', path.accountId] });
  }
  const discard = useAction({
    async mutationFn() {
      const images = await loadImages(client, path, draft.content.images);
      await api.delete(
        '/accounts/{accountId}/templates/{templateId}/draft',
        path,
        ifMatch(draft.seen()),
      );
      return { ...draft.content, images };
    },
    async onSuccess(body) {
      await refresh();
      showNotice(text('editor.discarded'), async () => {
        await api.put('/accounts/{accountId}/templates/{templateId}/draft', path, body, {
          headers: { 'if-none-match': '*' },
        });
        await refresh();
      });
    },
    onError: (error) => showNotice(error.message),
  });

  /** No message uses it before it is published, so the first time there is nothing to confirm. */
  function startPublishing() {
    if (template?.publishedVersion !== null) return publishDialog.open();
    return publish.mutate({ force: false, revealedFields: [] }, { onError: publishDialog.open });
  }

  if (!may('templates:write')) return menu();
  return (
    <>
      <Group gap="xs" className="editor-actions">
        <Button
          variant="default"
          loading={draft.saving}
          disabled={!draft.changed}
          title={draft.changed ? undefined : text('editor.unchanged')}
          // The page shows the error.
          onClick={() => draft.save().catch(() => undefined)}
        >
          {text('editor.save')}
        </Button>
        <Button variant="default" onClick={test.open}>
          {text('editor.test')}
        </Button>
        {may('templates:publish') && (
          <Button
            disabled={!draft.publishable}
            title={draft.publishable ? undefined : text('editor.isLive')}
            loading={publish.isPending && !publishing}
            onClick={startPublishing}
          >
            {text('editor.publish')}
          </Button>
        )}
        {menu(
          draft.stored && (
            <Menu.Item disabled={discard.isPending} onClick={() => discard.mutate()}>
              {text('editor.discard')}
            </Menu.Item>
          ),
        )}
      </Group>
      <PublishDialog opened={publishing} close={publishDialog.close} publish={publish} />
      <TestDialog opened={testing} close={test.close} draft={draft} />
    </>
  );
}
