import './message.css';
import { Button, Code, Group, Skeleton, Stack, Tabs, Text, Title } from '@mantine/core';
import { useLocation, useNavigate, useParams } from '@tanstack/react-router';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { Message } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useAction } from '../api/use-action.ts';
import { useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { Confirm } from '../components/confirm.tsx';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { PageAnchor, PageButton } from '../components/links.tsx';
import { MailFrame } from '../components/mail-frame.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { PageProblem } from '../components/page-problem.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { StateBadge } from '../components/state-badge.tsx';
import { Tag } from '../components/tag.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { MessageReplies } from '../reply/message-replies.tsx';
import { ScheduledActions, SchedulePanel } from '../schedule/schedule-panel.tsx';
import { showImages, useImageUrls } from '../template/template-images.ts';
import { text } from '../texts/text.ts';
import { DeliveredNote, DeliveryExplanationAlert } from './delivery-explanation-alert.tsx';
import { isReply } from './event-detail.ts';
import { MessageFacts, MessageParties, MessageValues } from './message-facts.tsx';
import { isContentErased, isFinalMessageState, waitOf } from './message-states.ts';
import { MessageTimeline } from './message-timeline.tsx';

/** Unfinished messages change often, most of all while a worker cancels them; final ones can only get opens and clicks. */
function pollMs(message: Message | undefined): number {
  if (isFinalMessageState(message?.state)) return 15_000;
  return message !== undefined && waitOf(message) === 'canceling' ? 250 : 2_000;
}

/** A message: state, explanation, events and content. */
export function MessagePage() {
  const { message: messageId = '' } = useParams({ strict: false });
  // The page that the menu marks.
  const isBelowScheduled = useLocation({
    select: ({ pathname }) => pathname.includes('/scheduled/'),
  });
  const message = useGet('/accounts/{accountId}/messages/{messageId}', {
    params: { messageId },
    refetchInterval: ({ state }) => pollMs(state.data),
  });
  const { data } = message;
  // An empty line until the subject is known, so that nothing moves when it comes.
  const subject = message.isPending ? '\u00a0' : data?.subject;
  // What a person wrote matters more than how the message got there.
  const isAnswered = data?.events.some((event) => isReply(event, false)) ?? false;
  return (
    <>
      <PageAnchor to={isBelowScheduled ? '/$account/scheduled' : '/$account/messages'} size="sm">
        {text(isBelowScheduled ? 'message.backToScheduled' : 'message.back')}
      </PageAnchor>
      <PageHeading
        title={data?.recipients[0]?.address ?? text('message.title')}
        {...(subject && {
          hint: (
            <Text span size="md" c="var(--brand-ink)">
              {subject}
            </Text>
          ),
        })}
        state={
          data !== undefined && (
            <Group gap={8}>
              <StateBadge state={data.state} test={data.test} waits={waitOf(data)} />
              {data.test && <Tag>{text('messages.mode.test')}</Tag>}
            </Group>
          )
        }
      >
        {data !== undefined && <ScheduledActions message={data} />}
        {data !== undefined && <MessageActions message={data} />}
      </PageHeading>
      <PageProblem error={message.error} icon="messages" retry={() => message.refetch()}>
        <PageButton to="/$account/messages">{text('message.back')}</PageButton>
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

/** The actions available in the state of a message: retry, pause, resume, cancel, resend. */
function MessageActions({ message }: { message: Message }) {
  const account = useAccountId();
  const may = useMay();
  const refresh = useRefresh('messages');
  const navigate = useNavigate();
  const cancelation = useDialog();
  const resending = useDialog();
  const revoking = useDialog();
  const path = { accountId: account, messageId: message.messageId };

  const control = useAction({
    mutationFn: (action: 'retry' | 'cancel' | 'pause' | 'resume') =>
      api.post(`/accounts/{accountId}/messages/{messageId}/${action}`, path),
    onSettled: refresh,
  });
  async function resend() {
    const { messageId } = await api.post('/accounts/{accountId}/messages/{messageId}/resend', path);
    await navigate({ to: '/$account/messages/$message', params: { account, message: messageId } });
  }

  async function revoke() {
    await api.post('/accounts/{accountId}/messages/{messageId}/revoke-links', path);
    await refresh();
  }

  if (!may('messages:control')) return null;
  const final = isFinalMessageState(message.state);
  const wait = waitOf(message);
  const waiting = !final && message.state !== 'sending' && wait !== 'canceling';
  const paused = message.nextAttempt?.paused ?? null;
  const scheduled = wait === 'scheduled';
  const to = message.recipients[0]?.address ?? message.messageId;
  return (
    <div>
      <Group gap="xs">
        {/* A retry doesn't send a scheduled message early; rescheduling it does. */}
        {waiting && paused === null && !scheduled && (
          <Button loading={control.isPending} onClick={() => control.mutate('retry')}>
            {text('message.retry')}
          </Button>
        )}
        {waiting && !scheduled && (paused === null || paused === 'message') && (
          <Button
            variant={paused === null ? 'default' : 'filled'}
            loading={control.isPending}
            onClick={() => control.mutate(paused === null ? 'pause' : 'resume')}
          >
            {text(paused === null ? 'message.pause' : 'message.resume')}
          </Button>
        )}
        {waiting && (
          <Button variant="default" className="destructive" onClick={cancelation.open}>
            {text('message.cancel')}
          </Button>
        )}
        {final && (
          <Button
            variant="default"
            disabled={isContentErased(message)}
            title={isContentErased(message) ? text('message.noResend') : undefined}
            onClick={resending.open}
          >
            {text('message.resend')}
          </Button>
        )}
        {hasOpenLinks(message) && (
          <Button variant="default" className="destructive" onClick={revoking.open}>
            {text('message.revoke')}
          </Button>
        )}
      </Group>
      <ConfirmByName
        {...cancelation.props}
        title={text('message.cancelTitle')}
        consequence={text('message.cancelConsequence')}
        name={message.recipients[0]?.address ?? 'cancel'}
        action={text('message.cancel')}
        dismiss={text('schedule.keep')}
        confirm={() => control.mutateAsync('cancel')}
      />
      <Confirm
        {...resending.props}
        title={text('message.resendTitle')}
        consequence={text('message.resendConsequence', { to })}
        action={text('message.resend')}
        conflictTitle={text('message.resendConflict')}
        confirm={resend}
      />
      <Confirm
        {...revoking.props}
        destructive
        title={text('message.revokeTitle')}
        consequence={text('message.revokeConsequence', { to })}
        action={text('message.revoke')}
        confirm={revoke}
      />
      {control.data?.changed === 0 && (
        <Text size="sm" role="status">
          {text(control.data.busy > 0 ? 'message.busy' : 'message.unchanged')}
        </Text>
      )}
      <ProblemAlert error={control.error} />
    </div>
  );
}

/** True if a guarded link of the message may still work. */
function hasOpenLinks({ content, events }: Message): boolean {
  return content?.guarded !== undefined && !events.some(({ kind }) => kind === 'links-revoked');
}

/** Of the content, in pixels: that of a mail of a line. */
const minHeight = 64;

/** The content of a message, as HTML and as plain text. */
function RenderedMessagePanel({ message }: { message: Message }) {
  const accountId = useAccountId();
  const { messageId } = message;
  const erased = isContentErased(message);
  // Rendered again from its version and values; viewing it doesn't count as an open.
  const rendered = useGet('/accounts/{accountId}/messages/{messageId}/rendered', {
    params: { messageId },
    enabled: !erased,
    staleTime: 'static',
  });
  const { data } = rendered;
  const images = useImageUrls({ accountId, messageId }, data?.images);
  return (
    <section aria-labelledby="rendered">
      <Title order={2} id="rendered" mb="sm">
        {text('message.rendered')}
      </Title>
      {erased && (
        <EmptyState
          icon="privacy"
          title={text('message.contentErased')}
          hint={whyErased(message)}
        />
      )}
      <ProblemAlert error={rendered.error} />
      {rendered.isLoading && <Skeleton height={minHeight} mt={49} />}
      {data !== undefined && (
        <Tabs defaultValue={data.html === null ? 'text' : 'html'} keepMounted={false}>
          <Tabs.List mb="sm">
            {data.html !== null && <Tabs.Tab value="html">HTML</Tabs.Tab>}
            <Tabs.Tab value="text">{text('message.plain')}</Tabs.Tab>
          </Tabs.List>
          {data.html !== null && (
            <Tabs.Panel value="html">
              <MailFrame
                html={showImages(data.html, images)}
                title={text('message.rendered')}
                minHeight={minHeight}
              />
            </Tabs.Panel>
          )}
          <Tabs.Panel value="text">
            <Code block>{data.text ?? ''}</Code>
          </Tabs.Panel>
        </Tabs>
      )}
    </section>
  );
}

/** Names the secret fields whose values were deleted with the last attempt. */
function whyErased({ content }: Message): string {
  const names = Object.entries(content?.values ?? {})
    .filter(([, value]) => value === null)
    .map(([name]) => `“${name}”`);
  if (names.length === 0) return text('message.erased');
  return text('message.erasedSecrets', { names: names.join(', '), count: names.length });
}
