import { Button, Checkbox, Code, Group } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReplySummary } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { reasonFor } from '../api/problem.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { PageAnchor } from '../components/links.tsx';
import { LoadMore } from '../components/load-more.tsx';
import { Note } from '../components/note.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { type Column, Rows } from '../components/rows.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { WholeSearch } from '../components/search-field.tsx';
import { TimeText } from '../components/time-text.tsx';
import '../message/event-texts.ts';
import '../message/message.css';
import { text } from '../texts/text.ts';
import { replyAnchor } from './message-replies.tsx';
import { AuthenticationBadge, AutomaticBadge } from './reply-badges.tsx';
import { readReplyFilters } from './reply-filters.ts';

const route = getRouteApi('/$account/messages/replies');

/** All replies, each with its message. */
export function RepliesPage() {
  const { from } = readReplyFilters(route.useSearch());
  const navigate = route.useNavigate();
  const pages = usePages('/accounts/{accountId}/replies', {
    query: { from, limit: 50 },
    refetchInterval: 15_000,
  });
  const [hidesAutomatic, setHidesAutomatic] = useState(false);
  const shown = pages.items.filter(({ automatic }) => !(automatic && hidesAutomatic));
  const isEmpty = pages.data !== undefined && pages.items.length === 0;

  return (
    <>
      <PageHeading title={text('nav.replies')} hint={text('replies.hint')} />
      {(!isEmpty || from !== undefined) && (
        <Group component="search" mb="md" gap="12px 20px" align="flex-start">
          <WholeSearch
            name={text('replies.find')}
            maxLength={320}
            shown={from ?? ''}
            show={(typed) => navigate({ search: readReplyFilters({ from: typed }), replace: true })}
            error={reasonFor(pages.error, 'from')}
          />
          <Checkbox
            mt={8}
            label={text('replies.hideAutomatic')}
            checked={hidesAutomatic}
            onChange={(event) => setHidesAutomatic(event.currentTarget.checked)}
          />
        </Group>
      )}
      <ProblemAlert error={pages.error} retry={() => pages.refetch()} />
      {pages.isPending && <RowsSkeleton />}
      {isEmpty && from === undefined && <NoReplies />}
      {isEmpty && from !== undefined && (
        <EmptyState title={text('replies.noneFound')} hint={text('replies.noneFoundHint')} />
      )}
      {pages.items.length > 0 && shown.length === 0 && (
        <EmptyState
          title={text('replies.onlyAutomatic')}
          hint={text('replies.onlyAutomaticHint')}
        />
      )}
      {shown.length > 0 && (
        <div className="replies-log">
          <Rows
            label={text('nav.replies')}
            items={shown}
            columns={replyColumns}
            idOf={({ replyId }) => replyId}
            compact
          />
        </div>
      )}
      <LoadMore pages={pages} />
    </>
  );
}

export const replyColumns: readonly Column<ReplySummary>[] = [
  { title: text('replies.from'), cell: (reply) => <ReplySender reply={reply} /> },
  { title: text('replies.subject'), cell: (reply) => <ReplyLink reply={reply} /> },
  {
    title: text('replies.inReplyTo'),
    secondary: true,
    cell: ({ messageSubject }) => (
      <span className="cut-short" title={messageSubject ?? undefined}>
        {messageSubject === null
          ? text('messages.erased')
          : messageSubject || text('replies.noSubject')}
      </span>
    ),
  },
  {
    title: text('replies.received'),
    numeric: true,
    cell: ({ receivedAt }) => <TimeText value={receivedAt} />,
  },
];

/** Who it claims to be from, and whether that is true or a program sent it. */
function ReplySender({ reply }: { reply: ReplySummary }) {
  const { from, subject, automatic, authenticated } = reply;
  const address = from?.address ?? (subject === null ? text('messages.erased') : '');
  return (
    <div>
      <span className="cut" title={address}>
        {address}
      </span>
      {automatic ? (
        <AutomaticBadge />
      ) : (
        authenticated !== null && <AuthenticationBadge isConfirmed={authenticated} />
      )}
    </div>
  );
}

/** The subject and the beginning of a reply; it leads to the message, which shows all of it. */
function ReplyLink({ reply }: { reply: ReplySummary }) {
  const { replyId, messageId: message, subject, preview } = reply;
  return (
    <div className="reply-line">
      <PageAnchor
        to="/$account/messages/$message"
        params={{ message }}
        hash={replyAnchor(replyId)}
        className="cut"
        title={subject ?? undefined}
      >
        {subject === null ? text('messages.erased') : subject || text('replies.noSubject')}
      </PageAnchor>
      <Note size="sm" truncate>
        {preview}
      </Note>
    </div>
  );
}

/** How to get replies, as long as there are none. */
function NoReplies() {
  return (
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
  );
}
