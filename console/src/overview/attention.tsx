import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useAccountId } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { Icon } from '../parts/icon.tsx';
import { PageAnchor } from '../parts/links.tsx';
import { type TextKey, text } from '../texts/text.ts';
import { useAttention } from './use-overview.ts';

interface Concern {
  readonly message: string;
  /** The page where it can be mended. */
  readonly to?:
    | '/$account/destinations'
    | '/$account/senders'
    | '/$account/domains'
    | '/$account/webhooks'
    | '/$account/reports'
    | undefined;
}

/** What needs somebody, each with the page where it can be mended. */
export function Attention() {
  const account = useAccountId();
  const concerns = useConcerns();
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="attention">
      <Title order={2} id="attention" mb="xs">
        {text('overview.attention')}
      </Title>
      {concerns.length === 0 && (
        <Text size="sm" c="dimmed">
          {text('overview.calm')}
        </Text>
      )}
      <Stack gap="xs">
        {concerns.map(({ message, to }) => (
          <Group key={message} gap="xs" wrap="nowrap" align="flex-start" className="concern">
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

const pages: Readonly<Record<string, Concern['to']>> = {
  'domain-broken': '/$account/domains',
  'domain-pending': '/$account/domains',
  'webhook-failing': '/$account/webhooks',
  'webhook-paused': '/$account/webhooks',
  'no-sender': '/$account/senders',
  'bounces-rising': '/$account/reports',
  'complaints-rising': '/$account/reports',
  paused: '/$account/destinations',
  'messages-held': '/$account/destinations',
};

/** The link says where it leads. */
function pageName(to: NonNullable<Concern['to']>): string {
  return to.replace('/$account/', '');
}

function useConcerns(): Concern[] {
  const { data: settings } = useSettings();
  const concerns: Concern[] = (useAttention().data?.items ?? []).map(
    ({ kind, sentence, nextStep }) => ({ message: `${sentence} ${nextStep}`, to: pages[kind] }),
  );
  if (settings?.deliveryRedirect)
    concerns.push({
      message: text('overview.redirected', { address: settings.deliveryRedirect }),
    });
  return concerns;
}
