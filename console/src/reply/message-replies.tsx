import { Anchor, Group, Paper, Skeleton, Stack, Tabs, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { Message, Reply, ReplySummary } from '../api/management.generated.ts';
import { useGet } from '../api/use-get.ts';
import { MailFrame } from '../components/mail-frame.tsx';
import { Note } from '../components/note.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { TimeText } from '../components/time-text.tsx';
import { formatSize } from '../format/format-number.ts';
import { text } from '../texts/text.ts';
import { AuthenticationBadge, AutomaticBadge } from './reply-badges.tsx';

/** As many as a message can have. */
const maxReplies = 100;
/** Replies of people that are shown at once: the newest ones. */
const maxShown = 5;
/** Of a short reply, in pixels. */
const shownHeight = 60;

/** The ID of the element with a reply. */
export function replyAnchor(replyId: string): string {
  return `reply-${replyId}`;
}

/** The replies to a message; nothing if there are none. */
export function MessageReplies({ message }: { message: Message }) {
  const count = message.events.filter(({ kind }) => kind === 'replied').length;
  const hasReplies = count > 0;
  const { messageId } = message;
  const replies = useGet('/accounts/{accountId}/replies', {
    query: { messageId, limit: maxReplies },
    revision: message.events.length,
    enabled: hasReplies,
  });
  if (!hasReplies) return null;
  // In the order of the timeline.
  const items = replies.data?.items.toReversed() ?? [];
  const people = items
    .filter(({ automatic, subject }) => !automatic && subject !== null)
    .slice(-maxShown);
  return (
    <section aria-labelledby="replies" className="message-part">
      <Title order={2} id="replies" mb="sm">
        {text('nav.replies')}{' '}
        <Text span inherit fw={400} c="dimmed">
          {count}
        </Text>
      </Title>
      <ProblemAlert
        error={replies.error}
        shownFrom={replies.dataUpdatedAt}
        retry={() => replies.refetch()}
      />
      {replies.isPending && <Skeleton height={shownHeight} />}
      <Stack gap="sm">
        {items.map((reply) => (
          <ReplyItem key={reply.replyId} reply={reply} isShown={people.includes(reply)} />
        ))}
      </Stack>
    </section>
  );
}

interface ReplyItemProps {
  reply: ReplySummary;
  /** Shows its content at once; otherwise on request. */
  isShown: boolean;
}

function ReplyItem({ reply, isShown }: ReplyItemProps) {
  const [isOpen, setOpen] = useState(false);
  const isErased = reply.subject === null;
  const { replyId } = reply;
  const read = useGet('/accounts/{accountId}/replies/{replyId}', {
    params: { replyId },
    enabled: !isErased && (isShown || isOpen),
  });
  const { data } = read;
  const content = (
    <Stack gap="sm" mt="xs">
      <ProblemAlert error={read.error} />
      {read.isLoading && <Skeleton height={shownHeight} />}
      {data !== undefined && <ReplyContent reply={data} />}
    </Stack>
  );
  return (
    <Paper withBorder p="sm" className="reply" id={replyAnchor(replyId)}>
      {isShown || isErased ? (
        <>
          <ReplyHead reply={reply} />
          {isShown && content}
        </>
      ) : (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>
            <ReplyHead reply={reply} />
          </summary>
          {isOpen && content}
        </details>
      )}
    </Paper>
  );
}

/** Who a reply is from, its subject and time. */
function ReplyHead({ reply: { from, subject, receivedAt, automatic } }: { reply: ReplySummary }) {
  return (
    <span className="reply-head">
      <Text span size="sm" fw={600} className="breakable">
        {from?.address ?? (subject === null && text('messages.erased'))}
      </Text>
      {automatic && <AutomaticBadge />}
      {subject !== null && (
        <Note span size="sm" truncate className="reply-subject">
          {subject || text('replies.noSubject')}
        </Note>
      )}
      <Note span size="sm" className="reply-time">
        <TimeText value={receivedAt} as="full" />
      </Note>
    </span>
  );
}

/** The text of a reply and, in a frame, its HTML. Its files are downloads. */
function ReplyContent({ reply }: { reply: Reply }) {
  const accountId = useAccountId();
  const { replyId, authentication } = reply;
  return (
    <>
      {authentication !== null && (
        <Group gap="4px 8px">
          <AuthenticationBadge isConfirmed={authentication.dmarc.result === 'pass'} />
          <Note>
            {text('replies.authentication', {
              spf: authentication.spf.result,
              dkim: authentication.dkim.result,
              dmarc: authentication.dmarc.result,
            })}
          </Note>
        </Group>
      )}
      {reply.unread && <Text size="sm">{text('replies.unread')}</Text>}
      <ReplyBody reply={reply} />
      {downloadsOf(reply).map(({ name, part, size }) => (
        <span key={part}>
          <Anchor
            href={`/manage/v1/accounts/${accountId}/replies/${replyId}/parts/${part}`}
            download={name}
          >
            {name}
          </Anchor>
          {size !== undefined && ` (${formatSize(size)})`}
        </span>
      ))}
    </>
  );
}

/** Its text first: the HTML is a stranger's, who can make it look like anything. */
function ReplyBody({ reply }: { reply: Reply }) {
  const plain = reply.text !== null && (
    <Text size="sm" className="reply-text">
      {reply.text.trim()}
    </Text>
  );
  if (reply.html === null) return plain;
  return (
    <Tabs defaultValue={plain ? 'text' : 'html'} keepMounted={false}>
      <Tabs.List mb="sm">
        {plain && <Tabs.Tab value="text">{text('replies.text')}</Tabs.Tab>}
        <Tabs.Tab value="html">{text('replies.html')}</Tabs.Tab>
      </Tabs.List>
      {plain && <Tabs.Panel value="text">{plain}</Tabs.Panel>}
      <Tabs.Panel value="html">
        <MailFrame html={reply.html} title={text('nav.replies')} minHeight={64} />
      </Tabs.Panel>
    </Tabs>
  );
}

interface Download {
  readonly name: string;
  readonly part: number;
  readonly size?: number;
}

/** What isn't shown. Parts are counted from 1: the text, the HTML, then the files, as far as the reply has them. */
function downloadsOf({ text: plain, textUrl, html, htmlUrl, attachments }: Reply): Download[] {
  const hasText = plain !== null || textUrl !== null;
  const hasHtml = html !== null || htmlUrl !== null;
  const htmlPart = hasText ? 2 : 1;
  const firstFile = htmlPart + (hasHtml ? 1 : 0);
  return [
    ...(textUrl === null ? [] : [{ name: text('replies.text'), part: 1 }]),
    ...(hasHtml ? [{ name: text('replies.html'), part: htmlPart }] : []),
    ...attachments.map(({ filename, size }, index) => ({
      name: filename,
      part: firstFile + index,
      size,
    })),
  ];
}
