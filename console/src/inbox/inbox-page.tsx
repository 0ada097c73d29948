import { Note } from '../components/note.tsx';
import './inbox.css';
import { Box } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useAccountId, useMay, useMe } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { PageAnchor } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { RemoveButton } from '../components/remove-button.tsx';
import { SearchField } from '../components/search-field.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { useInbox } from './use-inbox.ts';

/** Captured mail. */
export function InboxPage() {
  const accountId = useAccountId();
  const may = useMay();
  const { data: me } = useMe();
  const refresh = useRefresh('inbox');
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim(), 250);
  const pages = useInbox(search);

  async function empty() {
    await api.delete('/accounts/{accountId}/inbox/messages', { accountId });
    await refresh();
  }

  return (
    <>
      <PageHeading
        title={text('inbox.title')}
        hint={text(me?.inbox === false ? 'inbox.testHint' : 'inbox.hint')}
      >
        {may('inbox:write') && pages.items.length > 0 && (
          <RemoveButton
            title={text('inbox.empty')}
            consequence={text('inbox.emptyConsequence')}
            name="inbox"
            action={text('inbox.empty')}
            remove={empty}
          />
        )}
      </PageHeading>
      <Box component="search" mb="md">
        <SearchField name={text('inbox.find')} value={typed} change={setTyped} />
      </Box>
      <ListBody
        label={text('inbox.title')}
        pages={pages}
        idOf={({ id }) => id}
        compact
        empty={{
          icon: 'inbox',
          title: text(search === '' ? 'inbox.none' : 'inbox.noneFound'),
          hint: text(search === '' ? 'inbox.noneHint' : 'inbox.noneFoundHint'),
        }}
        columns={[
          {
            title: text('inbox.subject'),
            cell: ({ id, subject, beginning, from }) => (
              <div className="mail-subject">
                <PageAnchor to="/$account/inbox/$mail" params={{ mail: id }}>
                  {subject}
                </PageAnchor>
                <Note truncate>{snippetOf({ beginning, subject, from })}</Note>
              </div>
            ),
          },
          {
            title: text('inbox.to'),
            cell: ({ envelopeTo }) => (
              <div>
                <span className="mail-to">{text('inbox.to')} </span>
                <span>{envelopeTo.join(', ')}</span>
              </div>
            ),
          },
          {
            title: text('inbox.from'),
            secondary: true,
            cell: ({ from, envelopeFrom }) => (
              <span title={from ?? envelopeFrom}>{nameOf(from ?? envelopeFrom)}</span>
            ),
          },
          {
            title: text('inbox.received'),
            cell: ({ receivedAt }) => <TimeText value={receivedAt} />,
          },
        ]}
      />
    </>
  );
}

/** The display name of an address; the address itself if it has none. */
function nameOf(from: string): string {
  return /^"?([^"<]+?)"?\s*</.exec(from)?.[1] ?? from;
}

interface BeginningOf {
  readonly beginning: string;
  readonly subject: string;
  readonly from: string | null;
}

/** The beginning of a text, without what the row shows anyway, and without URLs, which would fill it. */
function snippetOf({ beginning, subject, from }: BeginningOf): string {
  let snippet = beginning.replace(/<?https?:\/\/[^\s>]*>?/gi, '').trim();
  for (const shown of [nameOf(from ?? ''), subject])
    if (snippet.startsWith(shown)) snippet = snippet.slice(shown.length).trimStart();
  return snippet;
}
