import { Anchor, Badge, Group, Paper, Stack, Tabs, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { Message, Reply, ReplySummary } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { Icon } from '../components/icon.tsx';
import { MailFrame } from '../components/mail-frame.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { TimeText } from '../components/time-text.tsx';
import { formatSize } from '../format/format-number.ts';
import { text } from '../texts/text.ts';

/** As many as a message can have. */
const maxReplies = 100;

/** The replies to a message; nothing if there are none. */
export function MessageReplies({ message }: { message: Message }) {
  const hasReplies = message.events.some(({ kind }) => kind === 'replied');
  const accountId = useAccountId();
  const { messageId } = message;
  const replies = useQuery({
    queryKey: ['replies', accountId, messageId, message.events.length],
    queryFn: () =>
      answerOf(
        api.GET('/accounts/{accountId}/replies', {
          params: { path: { accountId }, query: { messageId, limit: maxReplies } },
        }),
      ),
    enabled: hasReplies,
  });
  if (!hasReplies) return null;
  return (
    <section aria-labelledby="replies" className="message-part">
      <Title order={2} id="replies" mb="sm">
        {text('replies.title')}
      </Title>
      <ProblemAlert error={replies.error} retry={() => replies.refetch()} />
      <Stack gap="sm">
        {/* In the order of the timeline. */}
        {replies.data?.items.toReversed().map((reply) => (
          <ReplyItem key={reply.replyId} reply={reply} />
        ))}
      </Stack>
    </section>
  );
}

function ReplyItem({ reply }: { reply: ReplySummary }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Paper withBorder p="sm" className="reply">
      <Group justify="space-between" gap="4px md">
        <Group gap="xs">
          <Text fw={600} className="breakable">
            {reply.from?.address ?? (reply.subject === null && text('messages.erased'))}
          </Text>
          {reply.automatic && (
            <Badge className="state-badge" data-color="gray" tt="none">
              {text('replies.automatic')}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed">
          <TimeText value={reply.receivedAt} full />
        </Text>
      </Group>
      {reply.subject !== null && (
        <Text size="sm" mb={6}>
          {reply.subject || text('replies.noSubject')}
        </Text>
      )}
      {reply.subject !== null && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{text(isOpen ? 'replies.hide' : 'replies.show')}</summary>
          {isOpen && <ReplyContent replyId={reply.replyId} />}
        </details>
      )}
    </Paper>
  );
}

/** The text of a reply and, in a frame, its HTML. Its files are downloads. */
function ReplyContent({ replyId }: { replyId: string }) {
  const accountId = useAccountId();
  const reply = useQuery({
    queryKey: ['reply', accountId, replyId],
    queryFn: () =>
      answerOf(
        api.GET('/accounts/{accountId}/replies/{replyId}', {
          params: { path: { accountId, replyId } },
        }),
      ),
  });
  const { data } = reply;
  return (
    <Stack gap="xs" mt="sm">
      <ProblemAlert error={reply.error} />
      {data !== undefined && <ReplyBody reply={data} />}
      {data?.authentication != null && <Authentication {...data.authentication} />}
      {data !== undefined &&
        downloadsOf(data).map(({ name, part, size }) => (
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
    </Stack>
  );
}

/** Whether the domain of the sender confirms the reply, with the results of the checks on request. */
function Authentication({ spf, dkim, dmarc }: NonNullable<Reply['authentication']>) {
  const isConfirmed = dmarc.result === 'pass';
  return (
    <details className="authentication">
      <summary className={isConfirmed ? undefined : 'unconfirmed'}>
        {!isConfirmed && <Icon name="warning" size={16} />}
        {text(isConfirmed ? 'replies.authenticated' : 'replies.unauthenticated')}
      </summary>
      <Text size="sm" c="dimmed" pl={16}>
        {text('replies.authentication', {
          spf: spf.result,
          dkim: dkim.result,
          dmarc: dmarc.result,
        })}
      </Text>
    </details>
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
        <MailFrame html={reply.html} title={text('replies.title')} minHeight={80} />
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
