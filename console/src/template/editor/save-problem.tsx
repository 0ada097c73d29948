import { Alert, Box, Button, Group, Text } from '@mantine/core';
import { isStale } from '../../api/if-unchanged.ts';
import { ProblemAlert } from '../../components/problem-alert.tsx';
import { text } from '../../texts/text.ts';
import { useTakeStored } from './use-draft.ts';
import type { EditedDraft } from './use-save-draft.ts';

/** Why the draft couldn't be saved; after a conflict, the person chooses which version to keep. */
export function SaveProblem({ draft }: { draft: EditedDraft }) {
  const takeStored = useTakeStored();
  if (draft.error === null) return null;
  if (!isStale(draft.error))
    return (
      <Box mb="md">
        <ProblemAlert error={draft.error} />
      </Box>
    );
  return (
    <Alert color="red" title={text('editor.conflict')} role="alert" mb="md">
      <Text size="sm">{text('editor.conflictHint')}</Text>
      <Group gap="xs" mt="xs">
        <Button
          size="compact-sm"
          variant="default"
          // The page shows the error.
          onClick={() => draft.overwrite().catch(() => undefined)}
        >
          {text('editor.keepMine')}
        </Button>
        <Button size="compact-sm" variant="default" onClick={takeStored}>
          {text('editor.takeTheirs')}
        </Button>
      </Group>
    </Alert>
  );
}
