import './webhook-texts.ts';
import { Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { ListedWebhook } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { AreaList } from '../components/area-list.tsx';
import { PageAnchor } from '../components/links.tsx';
import { Note } from '../components/note.tsx';
import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useAddDialog } from '../components/use-add-dialog.tsx';
import { SecretDialog } from '../integration/secret-dialog.tsx';
import { eventName, shownWebhookKinds } from '../message/event-texts.ts';
import { text } from '../texts/text.ts';
import { DeliveryBadge } from './delivery-badge.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';

export function WebhookBadge({ webhook }: { webhook: Omit<ListedWebhook, 'latest'> }) {
  const { pausedAt, failingSince } = webhook;
  const state = pausedAt !== null ? 'paused' : failingSince !== null ? 'failing' : 'working';
  const color = { paused: 'yellow', failing: 'red', working: 'green' }[state];
  return <Tag color={color}>{text(`webhooks.${state}` as 'webhooks.working')}</Tag>;
}

/** The names of the subscribed kinds. */
export function kindsText({ kinds }: Pick<ListedWebhook, 'kinds'>): string {
  if (kinds.length === shownWebhookKinds.length) return text('webhooks.everyKind');
  const names = shownWebhookKinds.filter((kind) => kinds.includes(kind)).map(eventName);
  return text('webhooks.someKinds', { kinds: names.join(', ') });
}

/** The webhooks of the account. */
export function WebhooksPage() {
  const { button: add, dialog } = useAddDialog(
    text('webhooks.add'),
    'webhooks:write',
    'new-webhook',
  );
  const [created, setCreated] = useState<{ secret: string; format: ListedWebhook['format'] }>();
  const pages = usePages('/accounts/{accountId}/webhooks', { refetchInterval: 10_000 });
  return (
    <AreaList
      area="webhooks"
      add={add}
      pages={pages}
      idOf={({ id }) => id}
      columns={[
        {
          title: text('webhooks.url'),
          cell: (webhook) => (
            <div>
              <PageAnchor
                to="/$account/webhooks/$webhook"
                params={{ webhook: webhook.id }}
                className="breakable"
              >
                {withoutQuery(webhook.url)}
              </PageAnchor>
              <Note>{kindsText(webhook)}</Note>
            </div>
          ),
        },
        { title: text('webhooks.state'), cell: (webhook) => <WebhookBadge webhook={webhook} /> },
        {
          title: text('webhooks.latest'),
          cell: ({ latest }) =>
            latest === null ? (
              <Note size="sm">{text('webhooks.noEvents')}</Note>
            ) : (
              <Group gap="xs" wrap="nowrap">
                <DeliveryBadge state={latest.state} status={latest.status} />
                <TimeText value={latest.at} as="distance" />
              </Group>
            ),
        },
      ]}
    >
      <WebhookDialog {...dialog} show={(secret, format) => setCreated({ secret, format })} />
      <SecretDialog
        name={text('webhooks.secret')}
        secret={created?.secret}
        close={() => setCreated(undefined)}
      >
        <Text size="sm">{text(`webhooks.secretHint.${created?.format ?? 'signalpost'}`)}</Text>
      </SecretDialog>
    </AreaList>
  );
}

/** A query may contain a token, which a glance over the list must not reveal. */
function withoutQuery(url: string): string {
  return url.replace(/\?.*$/s, '?…');
}
