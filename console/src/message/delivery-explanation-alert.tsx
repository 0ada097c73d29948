import { Alert, Text } from '@mantine/core';
import { useAccountId } from '../account/use-me.ts';
import type { Message } from '../api/management.generated.ts';
import { PageAnchor } from '../components/links.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { parseEventDetail } from './event-detail.ts';
import { stateViews } from './message-states.ts';

/** What is paused, and how to go on. */
function PausedAlert({ paused }: { paused: Exclude<Paused, null> }) {
  const account = useAccountId();
  return (
    <Alert color="yellow" title={text('why.paused')} role="status">
      <Text size="sm">
        {text(`why.paused.${paused}`)}{' '}
        {paused !== 'message' && (
          <PageAnchor to="/$account/destinations" params={{ account }}>
            {text('why.toDestinations')}
          </PageAnchor>
        )}
      </Text>
    </Alert>
  );
}

type Paused = NonNullable<Message['nextAttempt']>['paused'];

/** Explains why a message hasn't arrived: state, last reply and next step. */
export function DeliveryExplanationAlert({ message }: { message: Message }) {
  const { state, nextAttempt, events } = message;
  if (nextAttempt !== null && nextAttempt.paused !== null)
    return <PausedAlert paused={nextAttempt.paused} />;
  const last = events.findLast(({ kind }) => kind === state || kind === 'deferred');
  const { reply, reason } = parseEventDetail(last?.detail);
  return (
    <Alert
      color={stateViews[state].alert}
      title={text(state === 'delivered' ? 'why.delivered' : 'why.title')}
      role="status"
    >
      <Text size="sm">{text(`why.state.${state}`)}</Text>
      {reply !== undefined && state !== 'delivered' && (
        <Text size="sm">{text('why.reply', { reply })}</Text>
      )}
      {reply === undefined && reason !== undefined && state !== 'delivered' && (
        <Text size="sm">{text('why.reason', { reason })}</Text>
      )}
      {nextAttempt !== null && (
        <Text size="sm">
          {text('why.waits', { reason: nextAttempt.reason })}
          {nextAttempt.at !== null && (
            <>
              {' '}
              {text('why.next')} <TimeText value={nextAttempt.at} distance />.
            </>
          )}
        </Text>
      )}
    </Alert>
  );
}
