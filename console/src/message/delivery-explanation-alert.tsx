import { Alert, Button, Text } from '@mantine/core';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { Message } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useAction } from '../api/use-action.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { PageAnchor } from '../components/links.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { parseEventDetail } from './event-detail.ts';
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

/** Explains why a message hasn't arrived: state, last reply and next step. */
export function DeliveryExplanationAlert({ message }: { message: Message }) {
  const { state, nextAttempt, events, recipients } = message;
  if (nextAttempt !== null && nextAttempt.paused !== null)
    return (
      <PausedAlert paused={nextAttempt.paused} domain={recipients[0]?.address?.split('@').at(-1)} />
    );
  // The badge says it, and the schedule.
  const wait = waitOf(message);
  if (wait === 'scheduled' || wait === 'canceling') return null;
  if (state === 'delivered') return <DeliveredNote message={message} />;
  const last = events.findLast(({ kind }) => kind === state || kind === 'deferred');
  const { reply, reason } = parseEventDetail(last?.detail, recipients);
  const hasWhy = reply !== undefined || reason !== undefined;
  return (
    <Alert color={stateViews[state].alert} title={text('why.title')} role="status">
      <Text size="sm">{text(`why.state.${state}`)}</Text>
      {reply !== undefined && <Text size="sm">{text('why.reply', { reply })}</Text>}
      {reply === undefined && reason !== undefined && (
        <Text size="sm">{text('why.reason', { reason })}</Text>
      )}
      {state === 'bounced' && <Text size="sm">{recipients[0]?.explanation.nextStep}</Text>}
      {nextAttempt !== null && (
        <Text size="sm">
          {!hasWhy && `${text('why.waits', { reason: nextAttempt.reason })} `}
          {nextAttempt.at !== null && (
            <>
              {text('why.next')} <TimeText value={nextAttempt.at} as="distance" />.
            </>
          )}
        </Text>
      )}
    </Alert>
  );
}
