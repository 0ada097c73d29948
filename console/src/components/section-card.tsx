import { Box, Group, Paper, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Note } from './note.tsx';

interface SectionCardProps {
  /** Of its heading, by which the section is named. */
  id: string;
  title: string;
  hint?: ReactNode;
  /** Beside the heading. */
  action?: ReactNode;
  children?: ReactNode;
}

/** A section of a page with a border. */
export function SectionCard({ id, title, hint, action, children }: SectionCardProps) {
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={id}>
      <Group justify="space-between" align="flex-start" gap="4px md" mb="sm">
        <Box flex="1 1 8rem">
          <Title order={2} id={id}>
            {title}
          </Title>
          {hint !== undefined && <Note size="sm">{hint}</Note>}
        </Box>
        {action}
      </Group>
      {children}
    </Paper>
  );
}
