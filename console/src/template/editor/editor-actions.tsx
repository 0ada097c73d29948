import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useMay } from '../../account/use-me.ts';
import { answerOf, api } from '../../api/management.ts';
import { RemoveButton } from '../../parts/remove-button.tsx';
import { text } from '../../texts/text.ts';
import { useTemplatePath } from '../use-template.ts';
import { PublishDialog } from './publish-dialog.tsx';
import { TestDialog } from './test-dialog.tsx';
import type { EditedDraft } from './use-save-draft.ts';

/** Saving, trying out, publishing and throwing away what is being edited. */
export function EditorActions({ draft }: { draft: EditedDraft }) {
  const may = useMay();
  const path = useTemplatePath();
  const client = useQueryClient();
  const [publishing, publish] = useDisclosure();
  const [testing, test] = useDisclosure();
  if (!may('templates:write')) return null;

  async function discard() {
    await answerOf(
      api.DELETE('/accounts/{accountId}/templates/{templateId}/draft', { params: { path } }),
    );
    await client.resetQueries({ queryKey: ['draft', path.accountId, path.templateId] });
    await client.invalidateQueries({ queryKey: ['templates', path.accountId] });
  }

  return (
    <Group gap="xs">
      <Text size="sm" c="dimmed" role="status">
        {draft.changed ? text('editor.unsaved') : draft.stored && text('editor.saved')}
      </Text>
      {draft.stored && (
        <RemoveButton
          title={text('editor.discard')}
          consequence={text('editor.discardConsequence')}
          name={path.templateId}
          action={text('editor.discard')}
          remove={discard}
        />
      )}
      <Button
        variant="default"
        loading={draft.saving}
        disabled={!draft.changed}
        // What went wrong stands on the page.
        onClick={() => draft.save().catch(() => undefined)}
      >
        {text('editor.save')}
      </Button>
      <Button variant="default" onClick={test.open}>
        {text('editor.test')}
      </Button>
      {may('templates:publish') && <Button onClick={publish.open}>{text('editor.publish')}</Button>}
      <PublishDialog opened={publishing} close={publish.close} draft={draft} />
      <TestDialog opened={testing} close={test.close} draft={draft} />
    </Group>
  );
}
