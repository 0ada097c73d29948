import { Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useAccountId } from '../account/use-me.ts';
import { formatNumber } from '../format/format-number.ts';
import { PageAnchor } from '../parts/links.tsx';
import { ProblemAlert } from '../parts/problem-alert.tsx';
import { RowsSkeleton } from '../parts/rows.tsx';
import { StateBadge } from '../parts/state-badge.tsx';
import { TimeText } from '../parts/time-text.tsx';
import { text } from '../texts/text.ts';
import { useLatestMessages, useQueue } from './use-overview.ts';

/** What was sent last and what waits. */
export function LatestMessages() {
  const account = useAccountId();
  const messages = useLatestMessages();
  const queue = useQueue();
  const waiting = queue.data?.destinations.reduce((sum, row) => sum + row.waiting, 0) ?? 0;
  const items = messages.data?.items ?? [];
  const count = (state: string) => items.filter((message) => message.state === state).length;
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="recent">
      <Group justify="space-between" mb="sm">
        <Title order={2} id="recent">
          {text('overview.recent')}
        </Title>
        <PageAnchor to="/$account/messages" params={{ account }} size="sm">
          {text('overview.show')}
        </PageAnchor>
      </Group>
      <SimpleGrid cols={3} mb="md">
        <Figure name={text('overview.waiting')} value={waiting} />
        <Figure name={text('state.delivered')} value={count('delivered')} />
        <Figure name={text('state.bounced')} value={count('bounced')} />
      </SimpleGrid>
      <ProblemAlert error={messages.error} />
      {messages.isPending && <RowsSkeleton />}
      {messages.data !== undefined && items.length === 0 && (
        <Text c="dimmed">{text('messages.none')}</Text>
      )}
      <Stack gap={6}>
        {items.slice(0, 12).map(({ id, to, state, acceptedAt }) => (
          <Group key={id} justify="space-between" wrap="nowrap">
            <PageAnchor
              to="/$account/messages/$message"
              params={{ account, message: id }}
              truncate
              size="sm"
            >
              {to ?? text('messages.erased')}
            </PageAnchor>
            <Group gap="xs" wrap="nowrap">
              <Text size="xs" c="dimmed" visibleFrom="xs">
                <TimeText value={acceptedAt} />
              </Text>
              <StateBadge state={state} />
            </Group>
          </Group>
        ))}
      </Stack>
    </Paper>
  );
}

function Figure({ name, value }: { name: string; value: number }) {
  return (
    <div>
      <Text size="xl" fw={650}>
        {formatNumber(value)}
      </Text>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
    </div>
  );
}
