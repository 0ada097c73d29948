import { Badge, Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { ifUnchanged } from '../api/if-unchanged.ts';
import type { WebhookDelivery } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { useAction } from '../api/use-action.ts';
import { Confirm } from '../components/confirm.tsx';
import { PageAnchor } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RemoveButton } from '../components/remove-button.tsx';
import { TimeText } from '../components/time-text.tsx';
import { SecretDialog } from '../integration/secret-dialog.tsx';
import { eventName } from '../message/event-texts.ts';
import { text } from '../texts/text.ts';
import { WebhookBadge } from './webhooks-page.tsx';

/** A webhook: its health, delivery log and replay. */
export function WebhookPage() {
  const account = useAccountId();
  const { webhook: webhookId = '' } = useParams({ strict: false });
  const may = useMay();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string>();
  const [rotating, rotation] = useDisclosure();
  const params = { path: { accountId: account, webhookId } };
  const refresh = () => client.invalidateQueries({ queryKey: ['webhooks', account] });
  const webhook = useQuery({
    queryKey: ['webhooks', account, webhookId],
    queryFn: () => answerOf(api.GET('/accounts/{accountId}/webhooks/{webhookId}', { params })),
  });
  const log = usePages<WebhookDelivery>({
    queryKey: ['webhooks', account, webhookId, 'log'],
    refetchInterval: 5_000,
    read: (cursor) =>
      answerOf(
        api.GET('/accounts/{accountId}/webhooks/{webhookId}/deliveries', {
          params: { ...params, query: { cursor } },
        }),
      ),
  });
  const pause = useAction({
    mutationFn: (action: 'pause' | 'resume') =>
      answerOf(api.POST(`/accounts/{accountId}/webhooks/{webhookId}/${action}`, { params })),
    onSuccess: refresh,
  });
  const replay = useAction({
    mutationFn: (eventId: string) =>
      answerOf(
        api.POST('/accounts/{accountId}/webhooks/{webhookId}/replay', {
          params,
          body: { eventId },
        }),
      ),
    onSuccess: refresh,
  });
  async function rotate() {
    const rotated = await answerOf(
      api.POST('/accounts/{accountId}/webhooks/{webhookId}/secret', { params }),
    );
    setSecret(rotated.secret);
  }

  async function remove() {
    const { url = '', kinds = [], pausedAt = null } = webhook.data ?? {};
    const resourcePath = '/accounts/{accountId}/webhooks/{webhookId}';
    await ifUnchanged(
      { url, kinds, pausedAt },
      () => api.GET(resourcePath, { params }),
      (precondition) => api.DELETE(resourcePath, { params, ...precondition }),
    );
    await refresh();
    await navigate({ to: '/$account/webhooks', params: { account } });
  }

  const write = may('webhooks:write');
  const paused = webhook.data?.pausedAt !== null;
  return (
    <>
      <PageAnchor to="/$account/webhooks" params={{ account }} size="sm">
        {text('webhooks.all')}
      </PageAnchor>
      <PageHeading title={webhook.data?.url ?? text('webhooks.title')}>
        {webhook.data !== undefined && <WebhookBadge webhook={webhook.data} />}
        {write && webhook.data !== undefined && (
          <>
            <Button
              variant="default"
              loading={pause.isPending}
              onClick={() => pause.mutate(paused ? 'resume' : 'pause')}
            >
              {text(paused ? 'webhooks.resume' : 'webhooks.pause')}
            </Button>
            <Button variant="default" onClick={rotation.open}>
              {text('webhooks.rotate')}
            </Button>
            <RemoveButton
              title={text('webhooks.removeTitle')}
              consequence={text('webhooks.removeConsequence')}
              name={webhook.data.url}
              remove={remove}
            />
          </>
        )}
      </PageHeading>
      {webhook.data !== undefined && webhook.data.pausedReason !== null && (
        <Text mb="sm">{webhook.data.pausedReason}</Text>
      )}
      <ProblemAlert error={webhook.error ?? pause.error ?? replay.error} />
      <ListBody
        label={text('webhooks.title')}
        pages={log}
        idOf={({ eventId }) => eventId}
        empty={{
          icon: 'webhooks',
          title: text('webhooks.nothing'),
          hint: text('webhooks.nothingHint'),
        }}
        columns={[
          { title: text('webhooks.event'), cell: ({ kind }) => eventName(kind) },
          { title: text('webhooks.at'), cell: ({ at }) => <TimeText value={at} /> },
          { title: text('webhooks.state'), cell: ({ state }) => <DeliveryBadge state={state} /> },
          { title: text('webhooks.attempts'), numeric: true, cell: ({ attempts }) => attempts },
          {
            title: text('webhooks.answer'),
            cell: ({ lastStatus, lastAnswer }) => (
              <Text size="sm" className="breakable">
                {lastStatus === 0 ? text('webhooks.noAnswer') : lastStatus} {lastAnswer}
              </Text>
            ),
          },
          {
            title: text('actions'),
            actions: true,
            cell: ({ eventId }) =>
              write && (
                <Button size="compact-sm" variant="subtle" onClick={() => replay.mutate(eventId)}>
                  {text('webhooks.replay')}
                </Button>
              ),
          },
        ]}
      />
      <Confirm
        opened={rotating}
        close={rotation.close}
        title={text('webhooks.rotateTitle')}
        consequence={text('webhooks.rotateHint')}
        action={text('webhooks.rotate')}
        confirm={rotate}
      />
      <SecretDialog
        name={text('webhooks.secret')}
        secret={secret}
        close={() => setSecret(undefined)}
      />
    </>
  );
}

const colors: Readonly<Record<DeliveryState, string>> = {
  pending: 'yellow',
  delivered: 'green',
  failed: 'red',
};

type DeliveryState = WebhookDelivery['state'];

function DeliveryBadge({ state }: { state: DeliveryState }) {
  return (
    <Badge className="state-badge" data-color={colors[state]} tt="none">
      {text(`webhooks.delivery.${state}`)}
    </Badge>
  );
}
