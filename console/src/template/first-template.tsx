import { Button, SimpleGrid, Stack, Text, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../account/use-me.ts';
import { PageAnchor } from '../components/links.tsx';
import { Note } from '../components/note.tsx';
import { useTemplates } from '../overview/use-overview.ts';
import { text } from '../texts/text.ts';
import { NewTemplateDialog } from './new-template-dialog.tsx';
import { blankStarter, useStarters } from './starter-choice.tsx';

/** The step to the first template: continue with the existing one, or start from a ready-made one. */
export function FirstTemplate() {
  const may = useMay();
  const { data: templates } = useTemplates();
  const starters = useStarters();
  const [starter, setStarter] = useState<string>();
  if (!may('templates:write')) return <Text size="sm">{text('steps.askForTemplate')}</Text>;
  const begun = templates?.items[0];
  if (begun !== undefined)
    return (
      <PageAnchor
        to="/$account/templates/$template"
        params={{ template: begun.id }}
        underline="never"
      >
        <Button component="span">{text('steps.continue', { name: begun.name })}</Button>
      </PageAnchor>
    );
  const blank = {
    id: blankStarter,
    name: text('starters.blank'),
    description: text('starters.blankHint'),
  };
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="xs">
        {[...(starters.data?.items ?? []), blank].map(({ id, name, description }) => (
          <UnstyledButton key={id} className="starter-card" onClick={() => setStarter(id)}>
            <Text size="sm" fw={600}>
              {name}
            </Text>
            <Note>{description}</Note>
          </UnstyledButton>
        ))}
      </SimpleGrid>
      {starter !== undefined && (
        <NewTemplateDialog opened close={() => setStarter(undefined)} starter={starter} />
      )}
    </Stack>
  );
}
