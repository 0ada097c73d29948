import { Group, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { useAccountId, useMay } from '../account/use-me.ts';
import { Icon } from '../components/icon.tsx';
import { PageAnchor } from '../components/links.tsx';
import { text } from '../texts/text.ts';
import { useIntegrations, useLatestMessages, useSenders, useTemplates } from './use-overview.ts';

interface Step {
  readonly name: 'Sender' | 'Template' | 'Integration' | 'Send';
  readonly done: boolean;
  readonly to:
    | '/$account/senders'
    | '/$account/templates'
    | '/$account/integrations'
    | '/$account/templates/$template/use';
}

/** The steps from an empty account to the first message; undefined while loading, null if unavailable. */
export function useSteps() {
  const read = [useTemplates(), useSenders(), useLatestMessages()] as const;
  const integrations = useIntegrations();
  const may = useMay();
  if (integrations.isLoading || read.some(({ isPending }) => isPending)) return undefined;
  const templates = read[0].data?.items;
  const senders = read[1].data?.items;
  const messages = read[2].data?.items;
  if (templates === undefined || senders === undefined || messages === undefined) return null;
  const first = templates.find(({ publishedVersion }) => publishedVersion !== null);
  const steps: readonly Step[] = [
    { name: 'Sender', done: senders.some(({ verified }) => verified), to: '/$account/senders' },
    { name: 'Template', done: first !== undefined, to: '/$account/templates' },
    // Without permission to read integrations, it's unknown whether there are any.
    ...(may('integrations:read')
      ? [
          {
            name: 'Integration' as const,
            done: (integrations.data?.items.length ?? 0) > 0,
            to: '/$account/integrations' as const,
          },
        ]
      : []),
    {
      name: 'Send',
      done: messages.length > 0,
      to: first === undefined ? '/$account/templates' : '/$account/templates/$template/use',
    },
  ];
  return { steps, template: first?.id ?? '' };
}

interface NextStepsProps {
  readonly steps: readonly Step[];
  /** A template for sending the first message. */
  readonly template: string;
}

/** Completed and next steps to the first message; hidden once all are done. */
export function NextSteps({ steps, template }: NextStepsProps) {
  const account = useAccountId();
  const next = steps.findIndex(({ done }) => !done);
  if (next === -1) return null;
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="steps">
      <Group justify="space-between" mb="sm">
        <Title order={2} id="steps">
          {text('overview.next')}
        </Title>
        <Text size="xs" c="dimmed">
          {text('overview.stepsDone', {
            done: steps.filter(({ done }) => done).length,
            all: steps.length,
          })}
        </Text>
      </Group>
      <Stack gap="sm">
        {steps.map(({ name, done, to }, index) => (
          <Group key={name} gap="sm" wrap="nowrap" align="flex-start">
            <ThemeIcon
              variant={done ? 'filled' : 'default'}
              radius="xl"
              size={24}
              mt={1}
              className="icon"
            >
              {done ? <Icon name="check" size={14} /> : <Text size="xs">{index + 1}</Text>}
            </ThemeIcon>
            <div>
              <PageAnchor
                to={to}
                params={{ account, template }}
                fw={index === next ? 650 : undefined}
              >
                {text(`overview.step${name}`)}
              </PageAnchor>
              {done && (
                <Text span size="xs" c="dimmed">
                  {' '}
                  {text('overview.done')}
                </Text>
              )}
              {!done && (
                <Text size="sm" c="dimmed">
                  {text(`overview.step${name}Hint`)}
                </Text>
              )}
            </div>
          </Group>
        ))}
      </Stack>
    </Paper>
  );
}
