import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useLocation, useParams } from '@tanstack/react-router';
import { useAccountId } from '../account/use-me.ts';
import type { Message } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { PageAnchor, PageButton } from '../components/links.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { PageProblem } from '../components/page-problem.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { StateBadge } from '../components/state-badge.tsx';
import { MessageReplies } from '../reply/message-replies.tsx';
import { ScheduledActions, SchedulePanel } from '../schedule/schedule-panel.tsx';
import { text } from '../texts/text.ts';
import { DeliveredNote, DeliveryExplanationAlert } from './delivery-explanation-alert.tsx';
import { isReply } from './event-detail.ts';
import { MessageActions } from './message-actions.tsx';
import { MessageFacts, MessageParties, MessageValues } from './message-facts.tsx';
import { isFinalMessageState, waitOf } from './message-states.ts';
import { MessageTimeline } from './message-timeline.tsx';
import { RenderedMessagePanel } from './rendered-message.tsx';
import './message.css';

/** Unfinished messages change often, most of all while a worker cancels them; final ones can only get opens and clicks. */
function pollMs(message: Message | undefined): number {
  if (isFinalMessageState(message?.state)) return 15_000;
  return message !== undefined && waitOf(message) === 'canceling' ? 250 : 2_000;
}

/** A message: state, explanation, events and content. */
export function MessagePage() {
  const accountId = useAccountId();
  const { message: messageId = '' } = useParams({ strict: false });
  // The page that the menu marks.
  const isBelowScheduled = useLocation({
    select: ({ pathname }) => pathname.includes('/scheduled/'),
  });
  const message = useQuery({
    queryKey: ['message', accountId, messageId],
    queryFn: () => api.get('/accounts/{accountId}/messages/{messageId}', { accountId, messageId }),
    refetchInterval: ({ state }) => pollMs(state.data),
  });
  const { data } = message;
  // An empty line until the subject is known, so that nothing moves when it comes.
  const subject = message.isPending ? '\u00a0' : data?.subject;
  // What a person wrote matters more than how the message got there.
  const isAnswered = data?.events.some((event) => isReply(event, false)) ?? false;
  return (
    <>
      {isBelowScheduled ? (
        <PageAnchor to="/$account/scheduled" params={{ account: accountId }} size="sm">
          {text('message.backToScheduled')}
        </PageAnchor>
      ) : (
        <PageAnchor to="/$account/messages" params={{ account: accountId }} size="sm">
          {text('message.back')}
        </PageAnchor>
      )}
      <PageHeading
        title={data?.recipients[0]?.address ?? text('message.title')}
        {...(subject && {
          hint: (
            <Text span size="md" c="var(--brand-ink)">
              {subject}
            </Text>
          ),
        })}
        state={data !== undefined && <StateBadge state={data.state} waits={waitOf(data)} />}
      >
        {data !== undefined && <ScheduledActions message={data} />}
        {data !== undefined && <MessageActions message={data} />}
      </PageHeading>
      <PageProblem error={message.error} icon="messages" retry={() => message.refetch()}>
        <PageButton to="/$account/messages" params={{ account: accountId }}>
          {text('message.back')}
        </PageButton>
      </PageProblem>
      {message.isPending && <RowsSkeleton />}
      {data !== undefined && (
        <Stack>
          <MessageParties message={data}>
            {data.state === 'delivered' && <DeliveredNote message={data} />}
          </MessageParties>
          {data.state !== 'delivered' && <DeliveryExplanationAlert message={data} />}
          {isAnswered && <MessageReplies message={data} />}
          <div className="message-areas">
            <div>
              <SchedulePanel message={data} />
              <MessageTimeline message={data} />
            </div>
            <div className="message-content">
              <RenderedMessagePanel message={data} />
              {!isAnswered && <MessageReplies message={data} />}
            </div>
            <MessageFacts message={data} />
            <MessageValues message={data} />
          </div>
        </Stack>
      )}
    </>
  );
}
