import { Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { WebhookDeliveryDetail } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useAction } from '../api/use-action.ts';
import { useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { CopyField } from '../components/copy-field.tsx';
import { Facts } from '../components/facts.tsx';
import { PageAnchor } from '../components/links.tsx';
import { Note } from '../components/note.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { TimeText } from '../components/time-text.tsx';
import { formatDuration } from '../format/format-number.ts';
import { text } from '../texts/text.ts';
import { DeliveryBadge, StatusBadge } from './delivery-badge.tsx';
import { formatJson, TextBlock, TryExchange } from './exchange.tsx';

interface DeliveryDetailProps {
  webhookId: string;
  eventId: string;
  paused: boolean;
  /** Whether it has its own page. */
  onPage?: boolean;
}

/** An event of a webhook: its message, every try and the payload. */
export function DeliveryPanel({ webhookId, eventId, paused, onPage }: DeliveryDetailProps) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('webhooks');
  const params = { accountId, webhookId, eventId };
  const detail = useGet('/accounts/{accountId}/webhooks/{webhookId}/deliveries/{eventId}', {
    params,
    refetchInterval: ({ state }) => (state.data?.state === 'pending' ? 2_000 : false),
  });
  const replay = useAction({
    mutationFn: () =>
      api.post(
        '/accounts/{accountId}/webhooks/{webhookId}/replay',
        { accountId, webhookId },
        { eventId },
      ),
    onSuccess: refresh,
  });
  if (detail.data === undefined)
    return detail.error === null ? (
      <Skeleton height={240} />
    ) : (
      <ProblemAlert error={detail.error} />
    );
  const { kind, state, tries, request } = detail.data;
  const replayButton = may('webhooks:write') && (
    <Button
      size={onPage ? 'sm' : 'compact-sm'}
      variant="default"
      loading={replay.isPending}
      onClick={() => replay.mutate()}
    >
      {text(state === 'pending' ? 'webhooks.retryNow' : 'webhooks.replay')}
    </Button>
  );
  return (
    <Stack gap="md">
      {onPage ? (
        <PageHeading title={`message.${kind}`} state={<DeliveryBadge state={state} />}>
          {replayButton}
        </PageHeading>
      ) : (
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Title order={2}>message.{kind}</Title>
            <DeliveryBadge state={state} />
          </Group>
          {replayButton}
        </Group>
      )}
      <ProblemAlert error={replay.error} />
      <EventFacts detail={detail.data} paused={paused} />
      <Tries detail={detail.data} />
      {tries.length === 0 && state === 'pending' && (
        <Text size="sm">{text('webhooks.untried')}</Text>
      )}
      <TextBlock title={text('webhooks.payload')}>{formatJson(request)}</TextBlock>
    </Stack>
  );
}

function EventFacts({ detail, paused }: { detail: WebhookDeliveryDetail; paused: boolean }) {
  const { eventId, messageId, at, address, nextAt, state } = detail;
  const next = paused
    ? text('webhooks.onResume')
    : nextAt !== null && <TimeText value={nextAt} as="distance" />;
  return (
    <Facts
      facts={[
        [text('webhooks.recipient'), address ?? text('webhooks.erased')],
        [
          text('webhooks.message'),
          <PageAnchor
            key="message"
            to="/$account/messages/$message"
            params={{ message: messageId }}
          >
            {messageId}
          </PageAnchor>,
        ],
        [
          text('webhooks.eventId'),
          <CopyField key="id" value={eventId} label={text('webhooks.eventId')} />,
        ],
        [text('webhooks.at'), <TimeText key="at" value={at} />],
        [text('webhooks.next'), state === 'pending' && next ? next : null],
      ]}
    />
  );
}

/** The tries, newest first; the newest is open. */
function Tries({
  detail: { tries, attempts, lastAnswer, lastStatus },
}: {
  detail: WebhookDeliveryDetail;
}) {
  if (tries.length === 0) {
    // Tried before tries were kept.
    if (lastStatus === null || lastAnswer === null) return null;
    return <TextBlock title={text('webhooks.answer')}>{`${lastStatus} ${lastAnswer}`}</TextBlock>;
  }
  return (
    <div className="tries">
      <Text size="sm" fw={600} mb={4}>
        {text('webhooks.tries', { count: attempts })}
      </Text>
      {tries.map((each, index) => (
        <details key={each.at} open={index === 0}>
          <summary>
            <StatusBadge status={each.status} />
            <TimeText value={each.at} />
            <Note span size="sm">
              {formatDuration(each.durationMs)}
            </Note>
          </summary>
          <Stack gap="xs" p="sm">
            <TryExchange exchange={each} />
          </Stack>
        </details>
      ))}
      {attempts > tries.length && (
        <Note mt={4}>{text('webhooks.latestTries', { count: tries.length })}</Note>
      )}
    </div>
  );
}
