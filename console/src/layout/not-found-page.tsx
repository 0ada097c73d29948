import { Button, Stack, Text, Title } from '@mantine/core';
import { text } from '../texts/text.ts';
import { Gate } from './gate.tsx';

/** Shown for unknown URLs. */
export function NotFoundPage() {
  return (
    <Gate>
      <Stack gap="xs" ta="center">
        <Title order={1}>{text('notFound.title')}</Title>
        <Text c="dimmed">{text('notFound.hint')}</Text>
        <div>
          <Button component="a" href="/console" variant="default">
            {text('notFound.home')}
          </Button>
        </div>
      </Stack>
    </Gate>
  );
}
