import { Alert, Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { api, ifMatch } from '../../api/management.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useAction } from '../../api/use-action.ts';
import { useRefresh } from '../../api/use-refresh.ts';
import { ProblemAlert } from '../../components/problem-alert.tsx';
import { text } from '../../texts/text.ts';
import { useTemplatePath } from '../use-template.ts';
import type { EditedDraft } from './use-save-draft.ts';

interface PublishOptions {
  /** Also if that breaks recent callers. */
  readonly force: boolean;
  /** Fields that may stop being secret. */
  readonly revealedFields: string[];
}

/** Publishes the draft and shows how to send with it. */
export function usePublish(draft: EditedDraft) {
  const path = useTemplatePath();
  const refresh = useRefresh('templates', 'versions');
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
export function PublishDialog({ opened, close, publish }: PublishDialogProps) {
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
