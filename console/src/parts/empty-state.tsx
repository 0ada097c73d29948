import { Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** Stands where a list has nothing, and teaches the next step. */
export function EmptyState(props: { title: string; hint: string; children?: ReactNode }) {
  return (
    <Paper withBorder p="xl" ta="center">
      <Stack gap="xs" align="center">
        <Title order={2}>{props.title}</Title>
        <Text c="dimmed" maw={520}>
          {props.hint}
        </Text>
        {props.children}
      </Stack>
    </Paper>
  );
}
