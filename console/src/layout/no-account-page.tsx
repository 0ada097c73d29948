import { Center, Stack, Text, Title } from '@mantine/core';
import { text } from '../texts/text.ts';

/** For people who belong to no account. */
export function NoAccountPage() {
  return (
    <Center component="main" mih="100vh" p="md">
      <Stack gap="xs" ta="center">
        <Title order={1}>{text('noAccount.title')}</Title>
        <Text c="dimmed">{text('noAccount.hint')}</Text>
      </Stack>
    </Center>
  );
}
