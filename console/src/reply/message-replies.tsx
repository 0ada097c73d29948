import { Anchor, Badge, Code, Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { Message, Reply, ReplySummary } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
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
    <section aria-labelledby="replies">
      <Title order={2} id="replies" mt="lg" mb="sm">
        {text('replies.title')}
      </Title>
      <ProblemAlert error={replies.error} retry={() => replies.refetch()} />
      <Stack gap="sm">
        {replies.data?.items.map((reply) => (
          <ReplyItem key={reply.replyId} reply={reply} />
        ))}
      </Stack>
    </section>
  );
}

function ReplyItem({ reply }: { reply: ReplySummary }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Paper withBorder p="sm">
      <Text fw={600}>
        {reply.from?.address ?? (reply.subject === null && text('messages.erased'))}{' '}
        {reply.automatic && <Badge variant="light">{text('replies.automatic')}</Badge>}
      </Text>
      <Text size="sm" c="dimmed">
        <TimeText value={reply.receivedAt} full />
        {reply.subject !== null && ` · ${reply.subject || text('replies.noSubject')}`}
      </Text>
      {reply.subject !== null && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{text('replies.show')}</summary>
          {isOpen && <ReplyContent replyId={reply.replyId} />}
        </details>
      )}
    </Paper>
  );
}

/** The text of a reply. Its HTML is a stranger's, so it is only a download, as its files are. */
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
    <Stack gap="xs" mt="xs">
      <ProblemAlert error={reply.error} />
      {data?.authentication != null && (
        <Text size="sm" c="dimmed">
          {text('replies.authentication', {
            spf: data.authentication.spf.result,
            dkim: data.authentication.dkim.result,
            dmarc: data.authentication.dmarc.result,
          })}
        </Text>
      )}
      {data?.text != null && <Code block>{data.text}</Code>}
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
