import { Code, Text, Timeline, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMay } from '../account/use-me.ts';
import type { Message } from '../api/management.generated.ts';
import { useGet } from '../api/use-get.ts';
import { PageAnchor } from '../components/links.tsx';
import { Note } from '../components/note.tsx';
import { TimeText } from '../components/time-text.tsx';
import { formatToMinute } from '../format/format-time.ts';
import { replyAnchor } from '../reply/message-replies.tsx';
import { text } from '../texts/text.ts';
import { isReply, parseEventDetail } from './event-detail.ts';
import { eventName } from './event-texts.ts';
import { useCaptured } from './use-captured.ts';

type MessageEvent = Message['events'][number];

/** How it went, as the color of its dot; other events are neutral. */
const outcomes: Partial<Readonly<Record<MessageEvent['kind'], 'good' | 'bad' | 'unsure'>>> = {
  delivered: 'good',
  bounced: 'bad',
  failed: 'bad',
  expired: 'bad',
  complained: 'bad',
  suppressed: 'unsure',
  deferred: 'unsure',
  uncertain: 'unsure',
  warning: 'unsure',
};

/** The events of a message in order, with their source. */
export function MessageTimeline({ message }: { message: Message }) {
  const captured = useCaptured(message);
  const persons = usePersons(message);
  return (
    <section aria-labelledby="timeline">
      <Title order={2} id="timeline" mb="sm">
        {text('message.timeline')}
      </Title>
      <Timeline bulletSize={12} lineWidth={2}>
        <Timeline.Item title={text('message.accepted')}>
          <Note size="sm">
            <TimeText value={message.acceptedAt} as="full" />
          </Note>
        </Timeline.Item>
        {message.events.map((event) => (
          <Timeline.Item
            key={`${event.at} ${event.kind} ${event.recipient}`}
            title={<EventTitle event={event} message={message} captured={captured} />}
            data-outcome={outcomes[event.kind]}
          >
            <Event event={event} message={message} person={personOf(event, persons)} />
          </Timeline.Item>
        ))}
      </Timeline>
    </section>
  );
}

interface EventProps {
  event: MessageEvent;
  message: Message;
}

/** The name of an event; that of a reply leads to it. */
function EventTitle({ event, message, captured }: EventProps & { captured: boolean }) {
  const { replyId } = parseEventDetail(event.detail);
  if (captured && event.kind === 'delivered') return text('state.captured');
  const name = isReply(event, true) ? text('replies.automatic') : eventName(event.kind);
  if (replyId === undefined) return name;
  return (
    <PageAnchor
      to="/$account/messages/$message"
      params={{ message: message.messageId }}
      hash={replyAnchor(replyId)}
      underline="always"
    >
      {name}
    </PageAnchor>
  );
}

function Event({ event, message, person }: EventProps & { person: string | undefined }) {
  const { at, recipient, detail } = event;
  const { reply, reason, sendAt, byHand, lines, transcript } = parseEventDetail(
    detail,
    message.recipients,
  );
  const facts: ReactNode[] = [
    ...(recipient !== null && recipient > 0 ? [message.recipients[recipient]?.address] : []),
    ...lines,
    ...(byHand
      ? [person === undefined ? text('event.by.hand') : text('event.by', { person })]
      : []),
  ];
  return (
    <>
      <Note size="sm" className="breakable">
        <TimeText value={at} />
        {facts.map((fact, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: facts can repeat, and have no state
          <span key={index}> · {fact}</span>
        ))}
      </Note>
      {sendAt !== undefined && (
        <Text size="sm">{text('event.movedTo', { time: formatToMinute(sendAt) })}</Text>
      )}
      {reason !== undefined && reason !== reply && <Text size="sm">{reason}</Text>}
      {reply !== undefined && (
        <Code block p="xs" mt={8}>
          {reply}
        </Code>
      )}
      {transcript.length > 0 && (
        <details>
          <summary>{text('message.showTranscript')}</summary>
          <Code block mt={8}>
            {transcript.join('\n')}
          </Code>
        </details>
      )}
    </>
  );
}

/** Who rescheduled a message, by the new send time in seconds, as far as the audit log has it and the person may see it. */
function usePersons({ messageId, acceptedAt, events }: Message): ReadonlyMap<number, string> {
  const may = useMay();
  const { data } = useGet('/accounts/{accountId}/audit', {
    revision: events.length,
    query: { kind: 'schedule_move', search: messageId, from: acceptedAt, limit: 100 },
    enabled: may('audit:read') && events.some(({ kind }) => kind === 'move-asked'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const moves = data?.items ?? [];
  return new Map(
    moves.flatMap(({ detail, name, email, keyName }) => {
      const person = name ?? email ?? keyName;
      return person ? [[secondsOf(detail.sendAt), person] as const] : [];
    }),
  );
}

function personOf({ detail }: MessageEvent, persons: ReadonlyMap<number, string>) {
  return persons.get(secondsOf(parseEventDetail(detail).sendAt));
}

function secondsOf(time: unknown): number {
  return Math.floor(Date.parse(String(time)) / 1_000);
}
