import { Highlight, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import type { InboxSummary } from '../api/management.generated.ts';
import type { LoadedPages } from '../api/pages.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { PageAnchor } from '../components/links.tsx';
import { LoadMore } from '../components/load-more.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import type { Inbox } from './use-inbox.ts';

interface MailListProps {
  inbox: Inbox;
  mails: LoadedPages<InboxSummary>;
}

/** The mail that matches the search, newest first. */
export function MailList({ inbox, mails }: MailListProps) {
  const { search } = inbox.filters;
  const { items, hasNextPage } = mails;
  return (
    <>
      <ProblemAlert
        error={mails.error}
        shownFrom={mails.dataUpdatedAt}
        retry={() => mails.refetch()}
      />
      {mails.isPending && <RowsSkeleton />}
      {mails.data !== undefined && items.length === 0 && (
        <EmptyState
          icon="inbox"
          title={text(search === undefined ? 'inbox.none' : 'inbox.noneFound')}
          hint={text(search === undefined ? 'inbox.noneHint' : 'inbox.noneFoundHint')}
        />
      )}
      {items.length > 0 && (
        <Text size="sm" c="dimmed" mb={6}>
          {hasNextPage
            ? text('inbox.countMore', { count: items.length })
            : search === undefined
              ? text('inbox.count', { count: items.length })
              : text('inbox.countFound', { count: items.length, search })}
        </Text>
      )}
      <ul className="mails" aria-label={text('nav.inbox')}>
        {items.map((mail) => (
          <MailItem key={mail.id} mail={mail} inbox={inbox} />
        ))}
      </ul>
      <LoadMore pages={mails} />
      <Arrival newest={items[0]} search={search} />
    </>
  );
}

function MailItem({ mail, inbox }: { mail: InboxSummary; inbox: Inbox }) {
  const { id, subject, envelopeTo, receivedAt } = mail;
  const { paths, filters } = inbox;
  const { search = '' } = filters;
  return (
    <li>
      <PageAnchor
        to={paths.page}
        search={{ ...filters, mail: id }}
        id={mailAnchor(id)}
        underline="never"
        c="inherit"
      >
        <Highlight span highlight={search} className="mail-subject">
          {subject || text('inbox.noSubject')}
        </Highlight>
        <TimeText value={receivedAt} as="brief" />
        <Highlight span highlight={search} className="mail-line">
          {envelopeTo.join(', ')}
        </Highlight>
        <Highlight span highlight={search} className="mail-line mail-beginning">
          {beginningOf(mail)}
        </Highlight>
      </PageAnchor>
    </li>
  );
}

/** The ID of the link to a mail. */
export function mailAnchor(id: string): string {
  return `mail-${id}`;
}

/** The beginning of the text, without what the row shows anyway, and without URLs, which would fill it. */
function beginningOf({ beginning, subject }: InboxSummary): string {
  const snippet = beginning.replace(/<?https?:\/\/[^\s>]*>?/gi, '').trim();
  return (snippet.startsWith(subject) ? snippet.slice(subject.length) : snippet).slice(0, 160);
}

/** Tells screen readers about new mail. */
function Arrival({ newest, search }: { newest: InboxSummary | undefined; search?: string }) {
  const seen = useRef({ id: newest?.id, search });
  const [said, setSaid] = useState('');
  useEffect(() => {
    const { id, search: before } = seen.current;
    seen.current = { id: newest?.id, search };
    // A mail that was deleted makes an older one the newest; IDs are in the order of their time.
    if (newest !== undefined && before === search && newest.id > (id ?? newest.id))
      setSaid(text('inbox.arrived', { subject: newest.subject || text('inbox.noSubject') }));
  }, [newest, search]);
  return (
    <span role="status" className="visually-hidden">
      {said}
    </span>
  );
}
