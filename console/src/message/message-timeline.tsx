import { Code, Text, Timeline, Title } from '@mantine/core';
import type { Message } from '../api/management.generated.ts';
import { TimeText } from '../components/time-text.tsx';
import { formatToMinute } from '../format/format-time.ts';
import { text } from '../texts/text.ts';
import { isReply, parseEventDetail } from './event-detail.ts';
import { eventName } from './event-texts.ts';
import { useCaptured } from './use-captured.ts';

/** The events of a message in order, with their source. */
export function MessageTimeline({ message }: { message: Message }) {
  const captured = useCaptured(message);
  return (
    <section aria-labelledby="timeline">
      <Title order={2} id="timeline" mb="sm">
        {text('message.timeline')}
      </Title>
      <Timeline bulletSize={14} lineWidth={2} active={message.events.length}>
        <Timeline.Item title={text('message.accepted')}>
          <Text size="sm" c="dimmed">
            <TimeText value={message.acceptedAt} full />
          </Text>
        </Timeline.Item>
        {message.events.map((event) => (
          <Timeline.Item
            key={`${event.at} ${event.kind} ${event.recipient}`}
            title={titleOf(event, captured)}
          >
            <Text size="sm" c="dimmed">
              <TimeText value={event.at} />
              {event.recipient !== null && event.recipient > 0 && (
                <> · {message.recipients[event.recipient]?.address}</>
              )}
            </Text>
            <Detail detail={event.detail} />
          </Timeline.Item>
        ))}
      </Timeline>
    </section>
  );
}

function titleOf(event: Message['events'][number], captured: boolean): string {
  if (captured && event.kind === 'delivered') return text('state.captured');
  return isReply(event, true) ? text('replies.automatic') : eventName(event.kind);
}

function Detail({ detail }: { detail: unknown }) {
  const { reply, reason, sendAt, lines, transcript } = parseEventDetail(detail);
  return (
    <>
      {sendAt !== undefined && (
        <Text size="sm">{text('event.movedTo', { time: formatToMinute(sendAt) })}</Text>
      )}
      {reason !== undefined && reason !== reply && <Text size="sm">{reason}</Text>}
      {reply !== undefined && (
        <Code block p="xs" my={4}>
          {reply}
        </Code>
      )}
      {lines.length > 0 && (
        <Text size="xs" c="dimmed" className="breakable">
          {lines.join(' · ')}
        </Text>
      )}
      {transcript.length > 0 && (
        <details>
          <summary>{text('message.showTranscript')}</summary>
          <Code block>{transcript.join('\n')}</Code>
        </details>
      )}
    </>
  );
}
