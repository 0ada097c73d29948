import { Anchor, Stack, Text } from '@mantine/core';
import { useAccountId } from '../account/use-me.ts';
import { PageAnchor } from '../components/links.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { StateBadge } from '../components/state-badge.tsx';
import { TimeText } from '../components/time-text.tsx';
import { waitOfLine } from '../message/message-states.ts';
import { text } from '../texts/text.ts';
import { useLatestMessages } from './use-overview.ts';

interface LatestMessagesProps {
  /** Shows nothing instead of an empty panel. */
  hidesEmpty?: boolean;
}

/** The latest messages. */
export function LatestMessages({ hidesEmpty = false }: LatestMessagesProps) {
  const account = useAccountId();
  const messages = useLatestMessages();
  const items = messages.data?.items ?? [];
  if (hidesEmpty && items.length === 0 && messages.error === null) return null;
  return (
    <SectionCard
      id="recent"
      title={text('overview.recent')}
      action={
        items.length > 0 && (
          <PageAnchor to="/$account/messages" params={{ account }} size="sm">
            {text('overview.allMessages')}
          </PageAnchor>
        )
      }
    >
      <ProblemAlert error={messages.error} retry={() => messages.refetch()} />
      {messages.isPending && <RowsSkeleton />}
      {messages.data !== undefined && items.length === 0 && (
        <Text size="sm" c="dimmed">
          {text('messages.none')}. {text('overview.noneHint')}{' '}
          <Anchor href="/docs" inherit underline="always">
            {text('layout.docs')}
          </Anchor>
        </Text>
      )}
      <Stack gap={0}>
        {items.map((line) => (
          <div key={line.id} className="line latest-line">
            <PageAnchor
              to="/$account/messages/$message"
              params={{ account, message: line.id }}
              size="sm"
              truncate
              display="block"
            >
              {line.to ?? text('messages.erased')}
            </PageAnchor>
            <Text size="xs" c="dimmed" truncate>
              {line.subject ?? line.templateId}
            </Text>
            <StateBadge state={line.state} waits={waitOfLine(line)} />
            <Text size="xs" c="dimmed" ta="right">
              <TimeText value={line.acceptedAt} as="distance" />
            </Text>
          </div>
        ))}
      </Stack>
    </SectionCard>
  );
}
