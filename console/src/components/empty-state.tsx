import { Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

interface EmptyStateProps {
  title: string;
  hint: ReactNode;
  icon?: IconName | undefined;
  children?: ReactNode;
}

/** Shown instead of an empty list, with the next step. */
export function EmptyState({ title, hint, icon, children }: EmptyStateProps) {
  return (
    <Paper withBorder p="xl" ta="center" className="empty-state">
      <Stack gap="xs" align="center" py="md">
        {icon !== undefined && (
          <ThemeIcon variant="light" size={48} radius="xl" mb={4}>
            <Icon name={icon} size={24} />
          </ThemeIcon>
        )}
        <Title order={2}>{title}</Title>
        <Text size="sm" c="dimmed" maw={520} mb="xs">
          {hint}
        </Text>
        {children}
      </Stack>
    </Paper>
  );
}
