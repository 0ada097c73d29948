import { Group, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { useAccountId } from '../account/use-me.ts';
import { Icon } from '../parts/icon.tsx';
import { PageAnchor } from '../parts/links.tsx';
import { text } from '../texts/text.ts';
import { useIntegrations, useLatestMessages, useSenders, useTemplates } from './use-overview.ts';

/** The way from an empty account to a first message; what is done is marked. */
export function NextSteps() {
  const account = useAccountId();
  const templates = useTemplates().data?.items;
  const senders = useSenders().data?.items;
  const integrations = useIntegrations().data?.items;
  const messages = useLatestMessages().data?.items;
  const first = templates?.find(({ publishedVersion }) => publishedVersion !== null);
  const steps = [
    {
      name: 'Sender',
      done: senders?.some(({ verified }) => verified) ?? false,
      to: '/$account/senders',
    },
    { name: 'Template', done: first !== undefined, to: '/$account/templates' },
    {
      name: 'Integration',
      done: (integrations?.length ?? 0) > 0,
      to: '/$account/integrations',
    },
    { name: 'Send', done: (messages?.length ?? 0) > 0, to: '/$account/templates' },
  ] as const;
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="steps">
      <Title order={2} id="steps" mb="xs">
        {text('overview.next')}
      </Title>
      <Stack gap="sm">
        {steps.map(({ name, done, to }) => (
          <Group key={name} gap="sm" wrap="nowrap" align="flex-start">
            <ThemeIcon variant={done ? 'filled' : 'default'} radius="xl" size={24} mt={2}>
              {done && <Icon name="check" size={14} />}
            </ThemeIcon>
            <div>
              <PageAnchor to={to} params={{ account }}>
                {text(`overview.step${name}`)}
              </PageAnchor>
              {done && (
                <Text span size="xs" c="dimmed">
                  {' '}
                  {text('overview.done')}
                </Text>
              )}
              <Text size="sm" c="dimmed">
                {text(`overview.step${name}Hint`)}
              </Text>
            </div>
          </Group>
        ))}
      </Stack>
    </Paper>
  );
}
