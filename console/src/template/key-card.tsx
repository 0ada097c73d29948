import { Button, Paper, Stack, Text, Title } from '@mantine/core';
import { useMay } from '../account/use-me.ts';
import { CopyField } from '../components/copy-field.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import type { useMadeKey } from '../key/use-made-key.ts';
import { text } from '../texts/text.ts';

/** Makes a key for the code samples. */
export function KeyCard({ made: { key, make } }: { made: ReturnType<typeof useMadeKey> }) {
  const may = useMay();
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="key">
      <Title order={2} id="key" mb="xs">
        {text('use.key')}
      </Title>
      {key !== undefined ? (
        <Stack gap={4}>
          <CopyField value={key} label={text('keys.key')} />
          <Text size="sm" c="dimmed">
            {text('use.keyOnce')}
          </Text>
        </Stack>
      ) : may('keys:write') ? (
        <Stack gap="xs" align="flex-start">
          <Text size="sm">{text('use.keyHint')}</Text>
          <Button loading={make.isPending} onClick={() => make.mutate()}>
            {text('use.makeKey')}
          </Button>
          <ProblemAlert error={make.error} />
        </Stack>
      ) : (
        <Text size="sm">{text('use.askForKey')}</Text>
      )}
    </Paper>
  );
}
