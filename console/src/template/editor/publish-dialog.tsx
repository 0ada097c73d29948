import { Alert, Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { answerOf, api, ifMatch } from '../../api/management.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useAction } from '../../api/use-action.ts';
import { ProblemAlert } from '../../components/problem-alert.tsx';
import { text } from '../../texts/text.ts';
import { useTemplatePath } from '../use-template.ts';
import type { EditedDraft } from './use-save-draft.ts';

/** Publishes the draft and shows how to send with it; `true` also if that breaks recent callers. */
export function usePublish(draft: EditedDraft) {
  const path = useTemplatePath();
  const client = useQueryClient();
  const navigate = useNavigate();
  return useAction({
    mutationFn: async (force: boolean) => {
      const seen = await draft.save();
      return answerOf(
        api.POST('/accounts/{accountId}/templates/{templateId}/publish', {
          params: { path },
          body: { force },
          ...ifMatch(seen),
        }),
      );
    },
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['templates', path.accountId] });
      await client.invalidateQueries({ queryKey: ['versions', path.accountId] });
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
export function PublishDialog({ opened, close, publish }: PublishDialogProps) {
  const { error } = publish;
  const breaks = error instanceof ApiProblem && error.code === 'breaks-callers' ? error : undefined;
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={text('editor.publishTitle')}
      onExitTransitionEnd={publish.reset}
    >
      <Stack>
        <Text size="sm">{text('editor.publishHint')}</Text>
        {breaks === undefined ? (
          <ProblemAlert error={error} />
        ) : (
          <Alert color="orange" title={text('editor.breaks')} role="alert">
            <Text size="sm">{breaks.message}</Text>
            <List size="sm">
              {[...namesOf(breaks.body.missing), ...namesOf(breaks.body.mismatched)].map((name) => (
                <List.Item key={name}>{name}</List.Item>
              ))}
            </List>
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {text('cancel')}
          </Button>
          <Button
            color={breaks === undefined ? undefined : 'red'}
            loading={publish.isPending}
            onClick={() => publish.mutate(breaks !== undefined)}
            data-autofocus
          >
            {text(breaks === undefined ? 'editor.publish' : 'editor.publishAnyway')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function namesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
