import { Alert, Text } from '@mantine/core';
import type { Message } from '../api/management.generated.ts';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { parseEventDetail } from './event-detail.ts';
import { stateViews } from './message-states.ts';

/** Explains why a message hasn't arrived: state, last reply and next step. */
export function DeliveryExplanationAlert({ message }: { message: Message }) {
  const { state, nextAttempt, events } = message;
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
          {text('why.waits', { reason: nextAttempt.reason })}{' '}
          {nextAttempt.at === null ? (
            text('why.person')
          ) : (
            <>
              {text('why.next')} <TimeText value={nextAttempt.at} distance />.
            </>
          )}
        </Text>
      )}
    </Alert>
  );
}
