import { Button, Stack, Text } from '@mantine/core';
import { useMay } from '../account/use-me.ts';
import { CopyField } from '../components/copy-field.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { SectionCard } from '../components/section-card.tsx';
import type { useMadeKey } from '../key/use-made-key.ts';
import { text } from '../texts/text.ts';

/** Makes a key for the code samples. */
export function KeyCard({ made: { key, make } }: { made: ReturnType<typeof useMadeKey> }) {
  const may = useMay();
  return (
    <SectionCard id="key" title={text('use.key')}>
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
    </SectionCard>
  );
}
