import { Alert, Button, Group, List, Menu, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../account/use-me.ts';
import { api, ifMatch } from '../../api/management.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useAction } from '../../api/use-action.ts';
import { useRefresh } from '../../api/use-refresh.ts';
import { showNotice } from '../../components/notices.tsx';
import { ProblemAlert } from '../../components/problem-alert.tsx';
import { useDialog } from '../../components/use-dialog.ts';
import { useRequestedDialog } from '../../layout/requested-dialog.ts';
import { text } from '../../texts/text.ts';
import { loadImages } from '../template-images.ts';
import { useTemplate, useTemplatePath } from '../use-template.ts';
import { TestDialog } from './test-dialog.tsx';
import { useTakeStored } from './use-draft.ts';
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
  const test = useDialog();
  useRequestedDialog('send-test', test.open);
  const takeStored = useTakeStored();
  const refreshTemplates = useRefresh('templates');
  async function refresh() {
    await takeStored();
    await refreshTemplates();
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
      <TestDialog {...test.props} draft={draft} />
    </>
  );
}

interface PublishOptions {
  /** Also if that breaks recent callers. */
  readonly force: boolean;
  /** Fields that may stop being secret. */
  readonly revealedFields: string[];
}

/** Publishes the draft and shows how to send with it. */
function usePublish(draft: EditedDraft) {
  const path = useTemplatePath();
  const refresh = useRefresh('templates');
  const navigate = useNavigate();
  return useAction({
    mutationFn: async (body: PublishOptions) => {
      const seen = await draft.save();
      return api.post(
        '/accounts/{accountId}/templates/{templateId}/publish',
        path,
        body,
        ifMatch(seen),
      );
    },
    async onSuccess() {
      await refresh();
      await navigate({
        to: '/$account/templates/$template/use',
        params: { account: path.accountId, template: path.templateId },
      });
    },
  });
}

interface PublishDialogProps {
  opened: boolean;
  close: () => void;
  publish: ReturnType<typeof usePublish>;
}

/** Confirms publishing, once more if it would break recent callers. */
function PublishDialog({ opened, close, publish }: PublishDialogProps) {
  const { error } = publish;
  const problem = error instanceof ApiProblem ? error : undefined;
  const revealedFields = namesOf(problem?.body.secretFields);
  const force = problem?.code === 'breaks-callers' || publish.variables?.force === true;
  const canInsist = problem?.code === 'breaks-callers' || revealedFields.length > 0;
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={text('editor.publishTitle')}
      onExitTransitionEnd={publish.reset}
    >
      <Stack>
        <Text size="sm">{text('editor.publishHint')}</Text>
        {problem !== undefined && canInsist ? (
          <Alert
            color="orange"
            title={text(revealedFields.length > 0 ? 'editor.reveals' : 'editor.breaks')}
            role="alert"
          >
            <Text size="sm">
              {revealedFields.length > 0 ? problem.message : text('editor.breaksHint')}
            </Text>
            <List size="sm">
              {[
                ...namesOf(problem.body.missing),
                ...namesOf(problem.body.mismatched),
                ...revealedFields,
              ].map((name) => (
                <List.Item key={name}>{name}</List.Item>
              ))}
            </List>
          </Alert>
        ) : (
          <ProblemAlert error={error} />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {text('cancel')}
          </Button>
          <Button
            color={canInsist ? 'red' : undefined}
            loading={publish.isPending}
            onClick={() => publish.mutate({ force, revealedFields })}
            data-autofocus
          >
            {text(canInsist ? 'editor.publishAnyway' : 'editor.publish')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function namesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
