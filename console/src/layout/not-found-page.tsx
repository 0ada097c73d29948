import { Anchor, Center, Stack, Text, Title } from '@mantine/core';
import { text } from '../texts/text.ts';

/** Shown for unknown URLs. */
export function NotFoundPage() {
  return (
    <Center component="main" mih="60vh" p="md">
      <Stack gap="xs" ta="center">
        <Title order={1}>{text('notFound.title')}</Title>
        <Text c="dimmed">{text('notFound.hint')}</Text>
        <Anchor href="/console">{text('notFound.home')}</Anchor>
      </Stack>
    </Center>
  );
}
