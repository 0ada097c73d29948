import { Stack, Text, Title } from '@mantine/core';
import { text } from '../texts/text.ts';
import { Gate } from './gate.tsx';

/** For people who belong to no account. */
export function NoAccountPage() {
  return (
    <Gate>
      <Stack gap="xs" ta="center">
        <Title order={1}>{text('noAccount.title')}</Title>
        <Text c="dimmed">{text('noAccount.hint')}</Text>
      </Stack>
    </Gate>
  );
}
