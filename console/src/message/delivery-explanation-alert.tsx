import { Alert, Button, Code, Text } from '@mantine/core';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { Message } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useAction } from '../api/use-action.ts';
import { useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { PageAnchor } from '../components/links.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { parseEventDetail, unmaskAddresses } from './event-detail.ts';
import { stateViews, waitOf } from './message-states.ts';
import { useCaptured } from './use-captured.ts';

interface PausedAlertProps {
  paused: Exclude<Paused, null>;
  /** Of the recipient; undefined if it was erased. */
  domain: string | undefined;
}

/** What is paused, and how to go on. */
function PausedAlert({ paused, domain }: PausedAlertProps) {
  const account = useAccountId();
  const may = useMay();
  const refresh = useRefresh('messages');
  const destination = paused === 'account' ? '*' : domain;
  const resume = useAction({
    mutationFn: (name: string) =>
      api.delete('/accounts/{accountId}/queue/pauses/{destination}', {
        accountId: account,
        destination: name,
      }),
    onSettled: refresh,
  });
  return (
    <Alert color="yellow" title={text('why.paused')} role="status">
      <Text size="sm">
        {text(`why.paused.${paused}`, { domain: domain ?? text('messages.erased') })}{' '}
        {paused !== 'message' && (
          <PageAnchor to="/$account/destinations">{text('why.toDestinations')}</PageAnchor>
        )}
      </Text>
      {paused !== 'message' && destination !== undefined && may('queue:control') && (
        <Button
          size="compact-sm"
          variant="default"
          mt="xs"
          loading={resume.isPending}
          onClick={() => resume.mutate(destination)}
        >
          {text(paused === 'account' ? 'why.resumeAll' : 'why.resume', { domain: destination })}
        </Button>
      )}
      <ProblemAlert error={resume.error} />
    </Alert>
  );
}

/** The ID in the reply of the inbox. */
const capturedId = /Stored as ([0-9a-f-]{36})/;

/** That the message was delivered, or is in the inbox of the installation, with a link to it for those who can open it. */
export function DeliveredNote({ message }: { message: Message }) {
  const { events } = message;
  const captured = useCaptured(message);
  const may = useMay();
  const delivered = events.findLast(({ kind }) => kind === 'delivered');
  const mail = capturedId.exec(parseEventDetail(delivered?.detail).reply ?? '')?.[1];
  return (
    <Text size="sm" c="dimmed" role="status" className="delivered-note">
      {text(captured ? 'why.captured' : 'why.state.delivered')}{' '}
      {captured && mail !== undefined && may('inbox:read') && (
        <PageAnchor to="/$account/inbox" search={{ mail }} underline="always">
          {text('why.openInInbox')}
        </PageAnchor>
      )}
    </Text>
  );
}

type Paused = NonNullable<Message['nextAttempt']>['paused'];

/** Explains why a message hasn’t arrived: the cause, what to do, the next attempt, and the server’s reply. */
export function DeliveryExplanationAlert({ message }: { message: Message }) {
  const { state, nextAttempt, recipients } = message;
  const [to] = recipients;
  if (nextAttempt !== null && nextAttempt.paused !== null)
    return <PausedAlert paused={nextAttempt.paused} domain={domainOf(to)} />;
  // The badge says it, and the schedule.
  const wait = waitOf(message);
  if (wait === 'scheduled' || wait === 'canceling' || to === undefined) return null;
  if (state === 'delivered') return <DeliveredNote message={message} />;
  const { sentence, nextStep, reply } = to.explanation;
  return (
    <Alert color={stateViews[state].alert} title={sentence} role="status">
      <Text size="sm">
        {nextAttempt?.at != null && (
          <>
            {text('why.next')} <TimeText value={nextAttempt.at} as="distance" />.{' '}
          </>
        )}
        {nextStep}{' '}
        {(state === 'bounced' || state === 'suppressed') && to.address !== null && (
          <SuppressionLink address={to.address} />
        )}
      </Text>
      {state === 'deferred' && <OthersWaiting domain={domainOf(to)} />}
      {reply !== undefined && (
        <Code block p="xs" mt="xs">
          {unmaskAddresses(reply, recipients)}
        </Code>
      )}
    </Alert>
  );
}

function domainOf(recipient: Message['recipients'][number] | undefined): string | undefined {
  return recipient?.address?.split('@').at(-1);
}

/** Leads to the suppression of an address, if it is suppressed. */
function SuppressionLink({ address }: { address: string }) {
  const may = useMay();
  const { data } = useGet('/accounts/{accountId}/suppressions', {
    query: { contains: address },
    enabled: may('suppressions:read'),
  });
  if (!data?.items.some((item) => item.address === address.toLowerCase())) return null;
  return (
    <PageAnchor to="/$account/suppressions" search={{ contains: address }} underline="always">
      {text('why.suppression')}
    </PageAnchor>
  );
}

/** How much other mail waits for the same domain. */
function OthersWaiting({ domain }: { domain: string | undefined }) {
  const may = useMay();
  const { data } = useGet('/accounts/{accountId}/queue', { enabled: may('queue:read') });
  const waiting =
    data?.destinations.find(({ destination }) => destination === domain)?.waiting ?? 0;
  if (domain === undefined || waiting < 2) return null;
  return (
    <Text size="sm">
      {text('why.others', { count: waiting - 1, domain })}{' '}
      <PageAnchor to="/$account/destinations">{text('why.toDestinations')}</PageAnchor>
    </Text>
  );
}
