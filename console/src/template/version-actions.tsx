import './editor-texts.ts';
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useMay } from '../account/use-me.ts';
import { ifUnchanged } from '../api/if-unchanged.ts';
import type { TemplateVersion } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { ApiProblem } from '../api/problem.ts';
import { useAction } from '../api/use-action.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { text } from '../texts/text.ts';
import { useTemplate, useTemplatePath } from './use-template.ts';

interface VersionActionsProps {
  version: TemplateVersion;
  show: () => void;
  /** Compares it with the published one. */
  compare: () => void;
}

/** Shows a version or rolls back to it, after confirmation if it would break recent callers. */
export function VersionActions({ version: { version, published }, ...props }: VersionActionsProps) {
  const may = useMay();
  const path = useTemplatePath();
  const refresh = useRefresh('templates');
  const [opened, dialog] = useDisclosure();
  const { data: template } = useTemplate();
  const [seen, setSeen] = useState<number | null>(null);
  const rollBack = useAction({
    mutationFn: (force: boolean) =>
      ifUnchanged(
        { publishedVersion: seen },
        () => api.getTagged('/accounts/{accountId}/templates/{templateId}', path),
        (precondition) =>
          api.post(
            '/accounts/{accountId}/templates/{templateId}/roll-back',
            path,
            { version, force },
            precondition,
          ),
      ),
    async onSuccess() {
      dialog.close();
      await refresh();
    },
  });
  const { error } = rollBack;
  const breaks = error instanceof ApiProblem && error.code === 'breaks-callers';

  function open() {
    setSeen(template?.publishedVersion ?? null);
    dialog.open();
  }

  return (
    <>
      <RowMenu
        name={text('versions.version', { version })}
        items={[
          { label: text('versions.show'), choose: props.show },
          ...(published || typeof template?.publishedVersion !== 'number'
            ? []
            : [{ label: text('versions.compareCurrent'), choose: props.compare }]),
          ...(published || !may('templates:publish')
            ? []
            : [{ label: text('versions.rollBack'), choose: open }]),
        ]}
      />
      <Modal
        opened={opened}
        onClose={dialog.close}
        title={text('versions.rollBackTitle', { version })}
        onExitTransitionEnd={rollBack.reset}
      >
        <Stack>
          <Text size="sm">{text('versions.rollBackHint')}</Text>
          {breaks ? (
            <Alert color="orange" title={text('editor.breaks')} role="alert">
              {error.message}
            </Alert>
          ) : (
            <ProblemAlert error={error} onRefreshed={dialog.close} />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={dialog.close}>
              {text('cancel')}
            </Button>
            <Button loading={rollBack.isPending} onClick={() => rollBack.mutate(breaks)}>
              {text(breaks ? 'editor.publishAnyway' : 'editor.publish')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
