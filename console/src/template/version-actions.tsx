import './editor-texts.ts';
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMay } from '../account/use-me.ts';
import { ifUnchanged } from '../api/if-unchanged.ts';
import type { TemplateVersion } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { ApiProblem } from '../api/problem.ts';
import { useAction } from '../api/use-action.ts';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { text } from '../texts/text.ts';
import { useTemplate, useTemplatePath } from './use-template.ts';

/** Rolls back to a version, after confirmation if it would break recent callers. */
export function VersionActions({ version: { version, published } }: { version: TemplateVersion }) {
  const may = useMay();
  const path = useTemplatePath();
  const client = useQueryClient();
  const [opened, dialog] = useDisclosure();
  const { data: template } = useTemplate();
  const [seen, setSeen] = useState<number | null>(null);
  const rollBack = useAction({
    mutationFn: (force: boolean) =>
      ifUnchanged(
        { publishedVersion: seen },
        () => api.GET('/accounts/{accountId}/templates/{templateId}', { params: { path } }),
        (precondition) =>
          api.POST('/accounts/{accountId}/templates/{templateId}/roll-back', {
            params: { path },
            body: { version, force },
            ...precondition,
          }),
      ),
    async onSuccess() {
      dialog.close();
      await client.invalidateQueries({ queryKey: ['templates', path.accountId] });
      await client.invalidateQueries({ queryKey: ['versions', path.accountId] });
    },
  });
  const { error } = rollBack;
  const breaks = error instanceof ApiProblem && error.code === 'breaks-callers';
  if (published || !may('templates:publish')) return null;

  function open() {
    setSeen(template?.publishedVersion ?? null);
    dialog.open();
  }

  return (
    <>
      <Button size="compact-sm" variant="subtle" onClick={open}>
        {text('versions.rollBack')}
      </Button>
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
