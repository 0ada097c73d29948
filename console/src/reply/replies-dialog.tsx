import { Box, Button, Checkbox, Code, Modal, Text } from '@mantine/core';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { ReplySummary } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { PageAnchor } from '../components/links.tsx';
import { LoadMore } from '../components/load-more.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { type Column, Rows } from '../components/rows.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { TimeText } from '../components/time-text.tsx';
// Adds the texts.
import '../message/event-texts.ts';
import '../message/message.css';
import { text } from '../texts/text.ts';

/** The log of all replies, each with its message. */
export function RepliesDialog({ opened, close }: { opened: boolean; close: () => void }) {
  return (
    <Modal opened={opened} onClose={close} title={text('replies.title')} size={720} yOffset="12vh">
      {/* Focused when it opens, instead of the button that closes it. */}
      <Box data-autofocus tabIndex={-1} className="replies-log">
        <RepliesLog />
      </Box>
    </Modal>
  );
}

function RepliesLog() {
  const accountId = useAccountId();
  const pages = usePages<ReplySummary>({
    queryKey: ['replies', accountId],
    refetchInterval: 15_000,
    read: (cursor) =>
      answerOf(
        api.GET('/accounts/{accountId}/replies', {
          params: { path: { accountId }, query: { cursor, limit: 50 } },
        }),
      ),
  });
  const [hidesAutomatic, setHidesAutomatic] = useState(false);
  const shown = pages.items.filter(({ automatic }) => !(automatic && hidesAutomatic));
  const columns: Column<ReplySummary>[] = [
    { title: text('replies.from'), cell: (reply) => <ReplySender reply={reply} /> },
    {
      title: text('replies.subject'),
      cell: ({ subject, messageId, preview }) => (
        <div>
          <PageAnchor
            to="/$account/messages/$message"
            params={{ account: accountId, message: messageId }}
            className="cut"
            title={subject ?? undefined}
          >
            {subject === null ? text('messages.erased') : subject || text('replies.noSubject')}
          </PageAnchor>
          <Text size="xs" c="dimmed" className="cut">
            {preview}
          </Text>
        </div>
      ),
    },
    {
      title: text('replies.inReplyTo'),
      cell: ({ messageSubject }) => (
        <span className="cut" title={messageSubject ?? undefined}>
          {messageSubject === null
            ? text('messages.erased')
            : messageSubject || text('replies.noSubject')}
        </span>
      ),
    },
    {
      title: text('replies.received'),
      numeric: true,
      cell: (reply) => <TimeText value={reply.receivedAt} />,
    },
  ];
  return (
    <>
      <ProblemAlert error={pages.error} retry={() => pages.refetch()} />
      {pages.isPending && <RowsSkeleton />}
      {pages.data !== undefined && pages.items.length === 0 && (
        <EmptyState
          icon="messages"
          title={text('replies.none')}
          hint={
            <>
              {text('replies.sendWith')} <Code>receiveReplies</Code> {text('replies.noneHint')}
            </>
          }
        >
          <Button component="a" href="/docs" variant="default">
            {text('replies.howTo')}
          </Button>
        </EmptyState>
      )}
      {pages.items.some(({ automatic }) => automatic) && (
        <Checkbox
          mb="sm"
          label={text('replies.hideAutomatic')}
          checked={hidesAutomatic}
          onChange={(event) => setHidesAutomatic(event.currentTarget.checked)}
        />
      )}
      {pages.items.length > 0 && shown.length === 0 && (
        <EmptyState
          title={text('replies.onlyAutomatic')}
          hint={text('replies.onlyAutomaticHint')}
        />
      )}
      {shown.length > 0 && (
        <Rows
          label={text('replies.title')}
          items={shown}
          columns={columns}
          idOf={({ replyId }) => replyId}
        />
      )}
      <LoadMore pages={pages} />
    </>
  );
}

/** Who it claims to be from, and whether a program sent it. */
function ReplySender({ reply: { from, subject, automatic } }: { reply: ReplySummary }) {
  const address = from?.address ?? (subject === null ? text('messages.erased') : '');
  return (
    <div>
      <span className="cut" title={address}>
        {address}
      </span>
      {automatic && (
        <Text size="xs" c="dimmed" fw={400}>
          {text('replies.automatic')}
        </Text>
      )}
    </div>
  );
}
