import './webhook-texts.ts';
import { Alert, Button, Code, Group, Paper, Text, Title } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { deleteUnchanged } from '../api/if-unchanged.ts';
import type { Webhook, WebhookDelivery } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { useAction } from '../api/use-action.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { Confirm } from '../components/confirm.tsx';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { CopyField } from '../components/copy-field.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { PageAnchor, PageButton } from '../components/links.tsx';
import { Note } from '../components/note.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { PageProblem } from '../components/page-problem.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { formatTime } from '../format/format-time.ts';
import { SecretDialog } from '../integration/secret-dialog.tsx';
import { text } from '../texts/text.ts';
import { isSuccessStatus } from './delivery-badge.tsx';
import { DeliveryPanel } from './delivery-detail.tsx';
import { DeliveryList, StateFilter } from './delivery-list.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { ReplayProgress } from './replay-progress.tsx';
import { TestEventDialog } from './test-event-dialog.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';
import { readWebhookFilters } from './webhook-filters.ts';
import { kindsText, WebhookBadge } from './webhooks-page.tsx';
import './webhook.css';
import { useGet } from '../api/use-get.ts';

const route = getRouteApi('/$account/webhooks/$webhook');

/** A webhook: its health, its events with every try, tests and replays. */
export function WebhookPage() {
  const { event } = readWebhookFilters(route.useSearch());
  // There is no space for an event next to the others.
  const isNarrow = useMediaQuery('(max-width: 68em)', false, { getInitialValueInEffect: false });
  const webhook = useWebhook();
  if (isNarrow && event !== undefined && webhook.data !== undefined)
    return <EventPage webhook={webhook.data} eventId={event} />;
  return <WholePage webhook={webhook} />;
}

function useWebhook() {
  const { webhook: webhookId } = route.useParams();
  return useGet('/accounts/{accountId}/webhooks/{webhookId}', {
    params: { webhookId },
    refetchInterval: 10_000,
  });
}

function WholePage({ webhook }: { webhook: ReturnType<typeof useWebhook> }) {
  // What opens the dialog can go while it is open: an event arrives, or requests succeed again.
  const test = useDialog();
  return (
    <>
      <PageAnchor to="/$account/webhooks" size="sm">
        {text('webhooks.all')}
      </PageAnchor>
      <PageHeading
        title={webhook.data?.url ?? text('nav.webhooks')}
        state={webhook.data !== undefined && <WebhookBadge webhook={webhook.data} />}
        {...(webhook.data !== undefined && { hint: <WebhookHint webhook={webhook.data} /> })}
      >
        {webhook.data !== undefined && <WebhookActions webhook={webhook.data} test={test.open} />}
      </PageHeading>
      <PageProblem error={webhook.error} icon="webhooks">
        <PageButton to="/$account/webhooks">{text('webhooks.all')}</PageButton>
      </PageProblem>
      {webhook.data !== undefined && (
        <>
          <WebhookBody webhook={webhook.data} test={test.open} />
          <TestEventDialog {...test.props} webhook={webhook.data} />
        </>
      )}
    </>
  );
}

/** What it gets, and since when. */
function WebhookHint({ webhook }: { webhook: Webhook }) {
  return (
    <span className="webhook-about">
      <span>
        {`${text('webhooks.subscribed')} `}
        <span>{kindsText(webhook)}</span>
      </span>
      {webhook.format !== 'signalpost' && (
        <span>
          {`${text('webhooks.format')}: `}
          <span>{text(`webhooks.format.${webhook.format}`)}</span>
        </span>
      )}
      <span>
        {`${text('webhooks.added')} `}
        <TimeText value={webhook.createdAt} as="minute" />
      </span>
    </span>
  );
}

/** An event on a page of its own. */
function EventPage({
  webhook: { id, url, pausedAt },
  eventId,
}: {
  webhook: Webhook;
  eventId: string;
}) {
  const { state } = readWebhookFilters(route.useSearch());
  return (
    <section aria-label={text('webhooks.event')}>
      <PageAnchor
        to="/$account/webhooks/$webhook"
        params={{ webhook: id }}
        search={state === undefined ? {} : { state }}
        size="sm"
        className="breakable"
      >
        {url}
      </PageAnchor>
      <DeliveryPanel webhookId={id} eventId={eventId} paused={pausedAt !== null} onPage />
    </section>
  );
}

interface WebhookPartProps {
  webhook: Webhook;
  /** Opens the dialog that sends a test event. */
  test: () => void;
}

function WebhookBody({ webhook, test }: WebhookPartProps) {
  const { state, event } = readWebhookFilters(route.useSearch());
  const { id: webhookId, pausedAt, pausedReason, failingSince, previousUntil } = webhook;
  const paused = pausedAt !== null;
  const log = usePages('/accounts/{accountId}/webhooks/{webhookId}/deliveries', {
    params: { webhookId },
    query: { ...(state && { state }) },
    refetchInterval: 5_000,
  });
  const shown = event ?? log.items[0]?.eventId;
  return (
    <>
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
        <Alert color="red" mb="md" title={failingTitle(failingSince, log.items)}>
          <FailedResponse answer={lastFailureOf(log.items)?.lastAnswer ?? ''} />
          <Text size="sm" mb="xs">
            {text('webhooks.failingHint')}
          </Text>
          <Group gap="xs">
            <RetryAllButton webhookId={webhookId} />
            <TestEventButton test={test} compact />
          </Group>
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
          <TestEventButton test={test} />
        </EmptyState>
      ) : (
        <div className="workbench">
          <section aria-label={text('webhooks.deliveries')}>
            <StateFilter />
            <DeliveryList log={log} shown={shown} paused={paused} />
          </section>
          <section aria-label={text('webhooks.event')}>
            {shown !== undefined && (
              <DeliveryPanel key={shown} webhookId={webhookId} eventId={shown} paused={paused} />
            )}
          </section>
        </div>
      )}
      <SigningSecret webhook={webhook} />
    </>
  );
}

/** Where the secret is, and what it is for. */
function SigningSecret({ webhook }: { webhook: Webhook }) {
  const may = useMay();
  const rotation = useRotation(webhook);
  return (
    <Paper withBorder p="md" mt="md" component="section" aria-labelledby="signing-secret">
      <Group justify="space-between" gap="8px 16px">
        <div className="grow">
          <Title order={2} id="signing-secret">
            {text('webhooks.secret')}
          </Title>
          <Note size="sm">
            {text(`webhooks.secretHint.${webhook.format}`)}{' '}
            {webhook.publicKey === null && text('webhooks.secretOnce')}
          </Note>
        </div>
        {may('webhooks:write') && (
          <Button variant="default" onClick={rotation.open}>
            {text('webhooks.rotate')}
          </Button>
        )}
      </Group>
      {webhook.publicKey !== null && (
        <CopyField value={webhook.publicKey} label={text('webhooks.publicKey')} />
      )}
      {rotation.dialogs}
    </Paper>
  );
}

/** Sends what waits for its next attempt now. */
function RetryAllButton({ webhookId }: { webhookId: string }) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('webhooks');
  const retry = useAction({
    mutationFn: () =>
      api.post('/accounts/{accountId}/webhooks/{webhookId}/resume', { accountId, webhookId }),
    onSuccess: refresh,
  });
  if (!may('webhooks:write')) return null;
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        loading={retry.isPending}
        onClick={() => retry.mutate()}
      >
        {text('webhooks.retryAll')}
      </Button>
      <ProblemAlert error={retry.error} />
    </>
  );
}

/** The latest event in the log that was answered with an error, or not at all. */
function lastFailureOf(events: readonly WebhookDelivery[]): WebhookDelivery | undefined {
  return events.find(({ lastStatus }) => lastStatus !== null && !isSuccessStatus(lastStatus));
}

/** What the endpoint said, or why it said nothing. */
function FailedResponse({ answer }: { answer: string }) {
  if (answer.trim() === '') return null;
  return (
    <Code block mb="xs" className="failed-response" tabIndex={0}>
      {answer.trim()}
    </Code>
  );
}

/** Since when requests fail, and with what, if the log still has one. */
function failingTitle(since: string, events: readonly WebhookDelivery[]): string {
  const time = formatTime(since);
  const status = lastFailureOf(events)?.lastStatus;
  if (typeof status !== 'number') return text('webhooks.failingTitle', { time });
  return status === 0
    ? text('webhooks.silentTitle', { time })
    : text('webhooks.failingWith', { time, status: String(status) });
}

/** The main action of a webhook without events. */
function TestEventButton({ test, compact }: { test: () => void; compact?: boolean }) {
  const may = useMay();
  if (!may('webhooks:write')) return null;
  return (
    <Button {...(compact && { variant: 'default', size: 'compact-sm' })} onClick={test}>
      {text('webhooks.test')}
    </Button>
  );
}

function WebhookActions({ webhook, test }: WebhookPartProps) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('webhooks');
  const navigate = route.useNavigate();
  const change = useDialog();
  const replay = useDialog();
  const removal = useDialog();
  const rotation = useRotation(webhook);
  const { id: webhookId, url, kinds, pausedAt } = webhook;
  const params = { accountId, webhookId };
  const paused = pausedAt !== null;
  const pause = useAction({
    mutationFn: (action: 'pause' | 'resume') =>
      api.post(`/accounts/{accountId}/webhooks/{webhookId}/${action}`, params),
    onSuccess: refresh,
  });

  async function remove() {
    const resourcePath = '/accounts/{accountId}/webhooks/{webhookId}';
    await deleteUnchanged(resourcePath, params, { url, kinds, pausedAt });
    await navigate({ to: '/$account/webhooks', params: { account: accountId } });
    await refresh();
  }

  if (!may('webhooks:write')) return null;
  return (
    <>
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
      <RowMenu
        name={url}
        onPage
        items={[
          { label: text('webhooks.test'), choose: test },
          { label: text('webhooks.replayPeriod'), choose: replay.open },
          { label: text('webhooks.rotate'), choose: rotation.open },
          { label: text('remove'), color: 'red', choose: removal.open },
        ]}
      />
      <ProblemAlert error={pause.error} onRefreshed={pause.reset} />
      <WebhookDialog {...change.props} webhook={webhook} />
      <ReplayDialog {...replay.props} webhookId={webhookId} />
      <ConfirmByName
        {...removal.props}
        title={text('webhooks.removeTitle')}
        consequence={text('webhooks.removeConsequence')}
        name={url}
        action={text('remove')}
        confirm={remove}
      />
      {rotation.dialogs}
    </>
  );
}

/** Formats whose requests have room for the signatures of two secrets. */
const formatsThatSignTwice: ReadonlySet<Webhook['format']> = new Set([
  'signalpost',
  'resend',
  'ses',
]);

/** Replaces the signing secret once that is confirmed, and shows the new one. */
function useRotation({ id: webhookId, previousUntil, format }: Webhook) {
  const accountId = useAccountId();
  const refresh = useRefresh('webhooks');
  const [secret, setSecret] = useState<string>();
  const rotation = useDialog();
  const signsTwice = formatsThatSignTwice.has(format);
  const twice = previousUntil !== null && Date.parse(previousUntil) > Date.now();

  async function rotate() {
    const params = { accountId, webhookId };
    const rotated = await api.post('/accounts/{accountId}/webhooks/{webhookId}/secret', params);
    await refresh();
    setSecret(rotated.secret);
  }

  const dialogs = (
    <>
      <Confirm
        {...rotation.props}
        title={text('webhooks.rotateTitle')}
        consequence={text(
          !signsTwice
            ? 'webhooks.rotateOnceHint'
            : twice
              ? 'webhooks.rotateTwiceHint'
              : 'webhooks.rotateHint',
        )}
        action={text('webhooks.rotate')}
        confirm={rotate}
      />
      <SecretDialog
        name={text('webhooks.newSecret')}
        secret={secret}
        close={() => setSecret(undefined)}
      >
        <Text size="sm">
          {text(signsTwice ? 'webhooks.rotatedHint' : 'webhooks.rotatedOnceHint')}
        </Text>
      </SecretDialog>
    </>
  );
  return { open: rotation.open, dialogs };
}
