import { ActionIcon, Alert, Button, Group, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { ifUnchanged } from '../api/if-unchanged.ts';
import type { Webhook, WebhookDelivery } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { useAction } from '../api/use-action.ts';
import { Confirm } from '../components/confirm.tsx';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Icon } from '../components/icon.tsx';
import { PageAnchor, PageButton } from '../components/links.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { PageProblem } from '../components/page-problem.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { TimeText } from '../components/time-text.tsx';
import { formatTime } from '../format/format-time.ts';
import { SecretDialog } from '../integration/secret-dialog.tsx';
import { text } from '../texts/text.ts';
import { DeliveryBadge } from './delivery-badge.tsx';
import { DeliveryPanel } from './delivery-detail.tsx';
import { DeliveryList, StateFilter } from './delivery-list.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { ReplayProgress } from './replay-progress.tsx';
import { TestEventDialog } from './test-event-dialog.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';
import { readWebhookFilters } from './webhook-filters.ts';
import { kindsText, WebhookBadge } from './webhooks-page.tsx';
import './webhook.css';

const route = getRouteApi('/$account/webhooks/$webhook');

/** A webhook: its health, its events with every try, tests and replays. */
export function WebhookPage() {
  const accountId = useAccountId();
  const { webhook: webhookId } = route.useParams();
  const params = { path: { accountId, webhookId } };
  const webhook = useQuery({
    queryKey: ['webhooks', accountId, webhookId],
    queryFn: () => answerOf(api.GET('/accounts/{accountId}/webhooks/{webhookId}', { params })),
    refetchInterval: 10_000,
  });
  return (
    <>
      <PageAnchor to="/$account/webhooks" params={{ account: accountId }} size="sm">
        {text('webhooks.all')}
      </PageAnchor>
      <PageHeading
        title={webhook.data?.url ?? text('webhooks.title')}
        state={webhook.data !== undefined && <WebhookBadge webhook={webhook.data} />}
      >
        {webhook.data !== undefined && <WebhookActions webhook={webhook.data} />}
      </PageHeading>
      <PageProblem error={webhook.error} icon="webhooks">
        <PageButton to="/$account/webhooks" params={{ account: accountId }}>
          {text('webhooks.all')}
        </PageButton>
      </PageProblem>
      {webhook.data !== undefined && <WebhookBody webhook={webhook.data} />}
    </>
  );
}

function WebhookBody({ webhook }: { webhook: Webhook }) {
  const accountId = useAccountId();
  const { state, event } = readWebhookFilters(route.useSearch());
  const { id: webhookId, pausedAt, pausedReason, failingSince, previousUntil } = webhook;
  const paused = pausedAt !== null;
  const log = useLog(webhookId, state);
  const latest = state === undefined ? log.items[0] : undefined;
  const shown = event ?? log.items[0]?.eventId;
  return (
    <>
      <Group gap="xs" mt="-xs" mb="md">
        <Text size="sm" c="dimmed">
          <span>{kindsText(webhook)}</span>
          {` · ${text('webhooks.added')} `}
          <TimeText value={webhook.createdAt} toMinute />
        </Text>
        {latest !== undefined && (
          <Group gap="xs" wrap="nowrap">
            <Text size="sm" c="dimmed">
              {text('webhooks.latest')}
            </Text>
            <DeliveryBadge state={latest.state} status={latest.lastStatus} />
            <Text size="sm" c="dimmed">
              <TimeText value={latest.at} distance />
            </Text>
          </Group>
        )}
      </Group>
      {paused && (
        <Alert
          color="yellow"
          mb="md"
          title={text('webhooks.pausedTitle', { time: formatTime(pausedAt) })}
        >
          {text('webhooks.pausedHint', { reason: pausedReason ?? '' })}
        </Alert>
      )}
      {!paused && failingSince !== null && (
        <Alert
          color="red"
          mb="md"
          title={text('webhooks.failingTitle', { time: formatTime(failingSince) })}
        >
          {text('webhooks.failingHint')}
        </Alert>
      )}
      {previousUntil !== null && Date.parse(previousUntil) > Date.now() && (
        <Alert color="blue" mb="md" title={text('webhooks.bothSecrets')}>
          {text('webhooks.bothSecretsHint', { time: formatTime(previousUntil) })}
        </Alert>
      )}
      <ReplayProgress webhookId={webhookId} paused={paused} />
      {log.data !== undefined && log.items.length === 0 && state === undefined ? (
        <EmptyState
          icon="webhooks"
          title={text('webhooks.nothing')}
          hint={text('webhooks.nothingHint')}
        >
          <TestEventButton webhook={webhook} />
        </EmptyState>
      ) : (
        <div className="workbench" data-chosen={event !== undefined}>
          <section aria-label={text('webhooks.deliveries')}>
            <StateFilter />
            <DeliveryList log={log} shown={shown} />
          </section>
          <section aria-label={text('webhooks.event')}>
            <PageAnchor
              to="/$account/webhooks/$webhook"
              params={{ account: accountId, webhook: webhookId }}
              search={state === undefined ? {} : { state }}
              size="sm"
              className="workbench-back"
            >
              {text('webhooks.back')}
            </PageAnchor>
            {shown !== undefined && (
              <DeliveryPanel key={shown} webhookId={webhookId} eventId={shown} paused={paused} />
            )}
          </section>
        </div>
      )}
    </>
  );
}

function useLog(webhookId: string, state: WebhookDelivery['state'] | undefined) {
  const accountId = useAccountId();
  return usePages<WebhookDelivery>({
    queryKey: ['webhooks', accountId, webhookId, 'log', state],
    refetchInterval: 5_000,
    read: (cursor) =>
      answerOf(
        api.GET('/accounts/{accountId}/webhooks/{webhookId}/deliveries', {
          params: { path: { accountId, webhookId }, query: { cursor, ...(state && { state }) } },
        }),
      ),
  });
}

function TestEventButton({ webhook }: { webhook: Webhook }) {
  const may = useMay();
  const [opened, dialog] = useDisclosure();
  if (!may('webhooks:write')) return null;
  return (
    <>
      <Button variant="default" onClick={dialog.open}>
        {text('webhooks.test')}
      </Button>
      <TestEventDialog opened={opened} close={dialog.close} webhook={webhook} />
    </>
  );
}

function WebhookActions({ webhook }: { webhook: Webhook }) {
  const accountId = useAccountId();
  const log = useLog(webhook.id, undefined);
  // The empty log offers a test event itself.
  const isUnused = log.data !== undefined && log.items.length === 0;
  const may = useMay();
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const [secret, setSecret] = useState<string>();
  const [changing, change] = useDisclosure();
  const [replaying, replay] = useDisclosure();
  const [rotating, rotation] = useDisclosure();
  const [removing, removal] = useDisclosure();
  const { id: webhookId, url, kinds, pausedAt, previousUntil } = webhook;
  const params = { path: { accountId, webhookId } };
  const refresh = () => client.invalidateQueries({ queryKey: ['webhooks', accountId] });
  const paused = pausedAt !== null;
  const pause = useAction({
    mutationFn: (action: 'pause' | 'resume') =>
      answerOf(api.POST(`/accounts/{accountId}/webhooks/{webhookId}/${action}`, { params })),
    onSuccess: refresh,
  });

  async function rotate() {
    const rotated = await answerOf(
      api.POST('/accounts/{accountId}/webhooks/{webhookId}/secret', { params }),
    );
    await refresh();
    setSecret(rotated.secret);
  }

  async function remove() {
    const resourcePath = '/accounts/{accountId}/webhooks/{webhookId}';
    await ifUnchanged(
      { url, kinds, pausedAt },
      () => api.GET(resourcePath, { params }),
      (precondition) => api.DELETE(resourcePath, { params, ...precondition }),
    );
    await navigate({ to: '/$account/webhooks', params: { account: accountId } });
    await refresh();
  }

  if (!may('webhooks:write')) return null;
  const twice = previousUntil !== null && Date.parse(previousUntil) > Date.now();
  return (
    <>
      {!isUnused && <TestEventButton webhook={webhook} />}
      <Button variant="default" onClick={change.open}>
        {text('change')}
      </Button>
      <Button
        variant={paused ? 'filled' : 'default'}
        loading={pause.isPending}
        onClick={() => pause.mutate(paused ? 'resume' : 'pause')}
      >
        {text(paused ? 'webhooks.resume' : 'webhooks.pause')}
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={text('actionsFor', { name: url })}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={replay.open}>{text('webhooks.replayPeriod')}</Menu.Item>
          <Menu.Item onClick={rotation.open}>{text('webhooks.rotate')}</Menu.Item>
          <Menu.Item color="red" onClick={removal.open}>
            {text('remove')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ProblemAlert error={pause.error} onRefreshed={pause.reset} />
      <WebhookDialog opened={changing} close={change.close} webhook={webhook} />
      <ReplayDialog opened={replaying} close={replay.close} webhookId={webhookId} />
      <Confirm
        opened={rotating}
        close={rotation.close}
        title={text('webhooks.rotateTitle')}
        consequence={text(twice ? 'webhooks.rotateTwiceHint' : 'webhooks.rotateHint')}
        action={text('webhooks.rotate')}
        confirm={rotate}
      />
      <ConfirmByName
        opened={removing}
        close={removal.close}
        title={text('webhooks.removeTitle')}
        consequence={text('webhooks.removeConsequence')}
        name={url}
        action={text('remove')}
        confirm={remove}
      />
      <SecretDialog
        name={text('webhooks.newSecret')}
        secret={secret}
        close={() => setSecret(undefined)}
      >
        <Text size="sm">{text('webhooks.rotatedHint')}</Text>
      </SecretDialog>
    </>
  );
}
