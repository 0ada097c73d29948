import { Group, Loader, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMay } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { api } from '../api/management.ts';
import { Icon } from '../components/icon.tsx';
import { PageAnchor } from '../components/links.tsx';
import { StateBadge } from '../components/state-badge.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { useTemplatePath } from './use-template.ts';

/**
 * Shows whether the first message sent since the page was opened has arrived, and its outcome.
 * @param isAwaited whether there is a key to send it with
 */
export function ArrivalCard({ isAwaited }: { isAwaited: boolean }) {
  const { accountId, templateId } = useTemplatePath();
  const may = useMay();
  const { data: settings } = useSettings();
  const { data: message } = useArrivedMessage();
  if (!may('messages:read')) return null;
  return (
    <Paper
      withBorder
      p="md"
      component="section"
      aria-labelledby="arrival"
      className="arrival"
      data-arrived={Boolean(message)}
    >
      <Title order={2} id="arrival" mb="xs">
        {text('use.arrival')}
      </Title>
      <div role="status">
        {message ? (
          <Group gap="sm" align="flex-start" wrap="nowrap">
            <ThemeIcon radius="xl" size={24} className="icon">
              <Icon name="check" size={14} />
            </ThemeIcon>
            <Stack gap={4}>
              <Group gap="xs">
                <Text fw={600}>{text('use.arrived', { to: message.to ?? '' })}</Text>
                <StateBadge state={message.state} />
                <Text size="sm" c="dimmed">
                  <TimeText value={message.acceptedAt} as="distance" />
                </Text>
              </Group>
              {settings?.delivery === 'inbox' && message.state === 'delivered' && (
                <Text size="sm">{text('use.captured')}</Text>
              )}
              <Group gap="md" fz="sm">
                <PageAnchor
                  to="/$account/messages/$message"
                  params={{ account: accountId, message: message.id }}
                  underline="always"
                >
                  {text('use.showMessage')}
                </PageAnchor>
                {settings?.delivery === 'inbox' && may('domains:write') && (
                  <PageAnchor
                    to="/$account/domains"
                    params={{ account: accountId }}
                    underline="always"
                  >
                    {text('use.next')}
                  </PageAnchor>
                )}
              </Group>
            </Stack>
          </Group>
        ) : (
          <Group gap="sm" wrap="nowrap">
            {isAwaited && <Loader size="xs" className="icon" aria-hidden="true" />}
            <Text size="sm" c={isAwaited ? undefined : 'dimmed'}>
              {text(isAwaited ? 'use.waiting' : 'use.notYet', { template: templateId })}
            </Text>
          </Group>
        )}
      </div>
    </Paper>
  );
}

/** The latest message of each template when its page was opened first; null: none. It outlives the page, for Back. */
const firstSeen = new Map<string, string | null>();

/** The latest message of the template, or null if it was there before. */
function useArrivedMessage() {
  const { accountId, templateId } = useTemplatePath();
  const may = useMay();
  return useQuery({
    queryKey: ['messages', accountId, 'latest of', templateId],
    queryFn: async () => {
      const { items } = await api.get(
        '/accounts/{accountId}/messages',
        { accountId },
        { templateId, limit: 1 },
      );
      const latest = items[0] ?? null;
      const key = `${accountId} ${templateId}`;
      if (!firstSeen.has(key)) firstSeen.set(key, latest?.id ?? null);
      return latest?.id === firstSeen.get(key) ? null : latest;
    },
    enabled: may('messages:read'),
    refetchInterval: 2_000,
  });
}
