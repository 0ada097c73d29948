import { Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSettings } from '../account/use-settings.ts';
import type { Attention } from '../api/management.generated.ts';
import { Icon } from '../components/icon.tsx';
import { PageAnchor } from '../components/links.tsx';
import { Note } from '../components/note.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { useBackup } from '../settings/use-backup.ts';
import { type TextKey, text } from '../texts/text.ts';
import { hasSteps, useAttention, useSendReadiness } from './use-overview.ts';

interface AttentionEntry {
  readonly message: string;
  /** Where it can be fixed. */
  readonly link?: ReactNode;
}

interface AttentionPanelProps {
  /** Shows nothing instead of an empty panel. */
  hidesEmpty?: boolean;
}

/** What needs attention, with links to where it can be fixed. */
export function AttentionPanel({ hidesEmpty = false }: AttentionPanelProps) {
  const entries = useAttentionEntries();
  if (hidesEmpty && entries.length === 0) return null;
  return (
    <SectionCard id="attention" title={text('overview.attention')}>
      {entries.length === 0 && <Note size="sm">{text('overview.noAttention')}</Note>}
      <Stack gap="xs" role={entries.length > 0 ? 'list' : undefined}>
        {entries.map(({ message, link }) => (
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
              {message} {link}
            </Text>
          </Group>
        ))}
      </Stack>
    </SectionCard>
  );
}

const pages = {
  suspended: '/$account/settings',
  'quota-used-up': '/$account/settings',
  'quota-nearly-used': '/$account/settings',
  'destination-throttled': '/$account/destinations',
  'bounces-rising': '/$account/reports',
  'complaints-rising': '/$account/reports',
  paused: '/$account/destinations',
  'messages-held': '/$account/destinations',
  'no-sender': '/$account/senders',
  'no-template': '/$account/templates',
  'no-integration': '/$account/keys',
  'no-transactional': '/$account/settings',
} as const;

type Page = (typeof pages)[keyof typeof pages];

/** Leads to the affected item, or else to its page. */
function AttentionLink({ item: { kind, subject, webhookId } }: { item: Attention }) {
  const style = { size: 'sm', underline: 'always' } as const;
  if (webhookId !== null)
    return (
      <PageAnchor to="/$account/webhooks/$webhook" params={{ webhook: webhookId }} {...style}>
        {text('overview.openWebhook')}
      </PageAnchor>
    );
  if (kind.startsWith('domain-') && subject !== null)
    return (
      <PageAnchor to="/$account/domains/$domain" params={{ domain: subject }} {...style}>
        {text('overview.openDomain', { domain: subject })}
      </PageAnchor>
    );
  const to: Page | undefined = pages[kind as keyof typeof pages];
  if (to === undefined) return null;
  return (
    <PageAnchor to={to} {...style}>
      {text(`nav.${to.replace('/$account/', '')}` as TextKey)}
    </PageAnchor>
  );
}

/** What the steps to the first message say already. */
const stepKinds: readonly string[] = ['no-sender', 'no-template', 'no-integration'];

function useAttentionEntries(): AttentionEntry[] {
  const { data: settings } = useSettings();
  const { data: backup } = useBackup();
  const readiness = useSendReadiness();
  const showsSteps = readiness.data !== undefined && hasSteps(readiness.data);
  const entries: AttentionEntry[] = (useAttention().data?.items ?? [])
    .filter(({ kind }) => !showsSteps || !stepKinds.includes(kind))
    .map((item) => ({
      message: `${item.sentence} ${item.nextStep}`,
      link: <AttentionLink item={item} />,
    }));
  if (backup?.ok === false)
    entries.push({
      message: `${text('overview.backup', { finding: backup.finding })} ${backup.advice ?? ''}`,
    });
  if (settings?.deliveryRedirect)
    entries.push({
      message: text('overview.redirected', { address: settings.deliveryRedirect }),
    });
  return entries;
}
