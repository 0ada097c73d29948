import { Box, Radio, ScrollArea, SimpleGrid, Stack, Text } from '@mantine/core';
import { useGet } from '../api/use-get.ts';
import { MailFrame } from '../components/mail-frame.tsx';
import { Note } from '../components/note.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { text } from '../texts/text.ts';

/** The choice of no starter. */
export const blankStarter = '';

/** The starters that a new template can begin with. */
export function useStarters() {
  return useGet('/accounts/{accountId}/template-starters', { staleTime: 300_000 });
}

interface StarterChoiceProps {
  value: string;
  change: (starter: string) => void;
}

/** Chooses a starter, with a preview of the chosen one. */
export function StarterChoice({ value, change }: StarterChoiceProps) {
  const starters = useStarters();
  const blank = {
    id: blankStarter,
    name: text('starters.blank'),
    description: text('starters.blankHint'),
  };
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} className="starter-areas">
      <ScrollArea.Autosize mah="var(--starter-height)" type="auto">
        <Radio.Group value={value} onChange={change} label={text('starters.title')}>
          <Stack gap={6} mt={6} mr="sm">
            {[...(starters.data?.items ?? []), blank].map(({ id, name, description }) => (
              <Radio.Card key={id} value={id} p="xs" aria-label={name} className="starter-choice">
                <Text size="sm" fw={600}>
                  {name}
                </Text>
                <Note>{description}</Note>
              </Radio.Card>
            ))}
          </Stack>
        </Radio.Group>
        <ProblemAlert error={starters.error} retry={() => starters.refetch()} />
      </ScrollArea.Autosize>
      <Box visibleFrom="sm">
        <StarterPreview starter={value} />
      </Box>
    </SimpleGrid>
  );
}

/** The email of a starter with its samples. */
export function StarterPreview({ starter }: { starter: string }) {
  const preview = useGet('/accounts/{accountId}/template-starters/{starterId}', {
    params: { starterId: starter },
    enabled: starter !== blankStarter,
    staleTime: 300_000,
  });
  if (starter === blankStarter) return <Note size="sm">{text('starters.blankPreview')}</Note>;
  if (preview.error !== null)
    return <ProblemAlert error={preview.error} retry={() => preview.refetch()} />;
  if (preview.data === undefined) return <RowsSkeleton />;
  const title = text('starters.preview', { name: preview.data.name });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it with the arrow keys
    <section className="starter-preview" aria-label={title} tabIndex={0}>
      <MailFrame html={preview.data.html} title={title} fit={640} minHeight={420} />
    </section>
  );
}
