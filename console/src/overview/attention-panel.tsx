import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useAccountId } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { Icon } from '../components/icon.tsx';
import { PageAnchor } from '../components/links.tsx';
import { type TextKey, text } from '../texts/text.ts';
import { hasSteps, useAttention, useSendReadiness } from './use-overview.ts';

interface AttentionEntry {
  readonly message: string;
  /** The page where it can be fixed. */
  readonly to?: Page | undefined;
}

/** What needs attention, with links to where it can be fixed. */
export function AttentionPanel() {
  const account = useAccountId();
  const entries = useAttentionEntries();
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="attention">
      <Title order={2} id="attention" mb="xs">
        {text('overview.attention')}
      </Title>
      {entries.length === 0 && (
        <Text size="sm" c="dimmed">
          {text('overview.noAttention')}
        </Text>
      )}
      <Stack gap="xs" role={entries.length > 0 ? 'list' : undefined}>
        {entries.map(({ message, to }) => (
          <Group
            key={message}
            role="listitem"
            gap="xs"
            wrap="nowrap"
            align="flex-start"
            className="concern"
          >
            <Icon name="warning" />
            <Text size="sm" className="breakable">
              {message}{' '}
              {to !== undefined && (
                <PageAnchor to={to} params={{ account }} size="sm" underline="always">
                  {text(`nav.${pageName(to)}` as TextKey)}
                </PageAnchor>
              )}
            </Text>
          </Group>
        ))}
      </Stack>
    </Paper>
  );
}

const pages = {
  suspended: '/$account/settings',
  'quota-used-up': '/$account/settings',
  'quota-nearly-used': '/$account/settings',
  'domain-broken': '/$account/domains',
  'domain-pending': '/$account/domains',
  'webhook-failing': '/$account/webhooks',
  'webhook-paused': '/$account/webhooks',
  'destination-throttled': '/$account/destinations',
  'bounces-rising': '/$account/reports',
  'complaints-rising': '/$account/reports',
  paused: '/$account/destinations',
  'messages-held': '/$account/destinations',
  'no-sender': '/$account/senders',
  'no-template': '/$account/templates',
  'no-integration': '/$account/integrations',
  'no-transactional': '/$account/settings',
} as const;

type Page = (typeof pages)[keyof typeof pages];

/** Labels the link by its target. */
function pageName(to: Page): string {
  return to.replace('/$account/', '');
}

/** What the steps to the first message say already. */
const stepKinds: readonly string[] = ['no-sender', 'no-template', 'no-integration'];

function useAttentionEntries(): AttentionEntry[] {
  const { data: settings } = useSettings();
  const readiness = useSendReadiness();
  const showsSteps = readiness.data !== undefined && hasSteps(readiness.data);
  const entries: AttentionEntry[] = (useAttention().data?.items ?? [])
    .filter(({ kind }) => !showsSteps || !stepKinds.includes(kind))
    .map(({ kind, sentence, nextStep }) => ({
      message: `${sentence} ${nextStep}`,
      to: pages[kind as keyof typeof pages],
    }));
  if (settings?.deliveryRedirect)
    entries.push({
      message: text('overview.redirected', { address: settings.deliveryRedirect }),
    });
  return entries;
}
