import { Button, Switch } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { MessageLine } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { PageAnchor } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { text } from '../texts/text.ts';
import { ColumnPicker, useMessageColumns } from './message-columns.tsx';
import { MessageFilterBar } from './message-filter-bar.tsx';
import { type MessageFilters, messageQuery, readMessageFilters } from './message-filters.ts';
import { MessageTabs } from './message-tabs.tsx';

const route = getRouteApi('/$account/messages');

/** The live message log; filters are in the URL, so they can be shared. */
export function MessagesPage() {
  const accountId = useAccountId();
  const filters = readMessageFilters(route.useSearch());
  const [live, setLive] = useState(true);
  const pages = usePages<MessageLine>({
    queryKey: ['messages', accountId, filters],
    refetchInterval: live ? 4_000 : false,
    read(cursor) {
      const query = { ...messageQuery(filters), cursor, limit: 50 };
      return api.get('/accounts/{accountId}/messages', { accountId }, query);
    },
  });
  const filtered = Object.keys(filters).length > 0;
  const { columns, ...picker } = useMessageColumns();
  return (
    <>
      <PageHeading title={text('messages.title')} hint={text('messages.hint')}>
        <Switch
          mr="sm"
          label={text('messages.live')}
          checked={live}
          onChange={(event) => setLive(event.currentTarget.checked)}
        />
        <ColumnPicker {...picker} />
        <Button component="a" variant="default" href={exportUrl(accountId, filters)} download>
          {text('messages.export')}
        </Button>
      </PageHeading>
      <MessageTabs />
      <MessageFilterBar />
      <ListBody
        label={text('messages.title')}
        pages={pages}
        columns={columns}
        idOf={({ id }) => id}
        compact
        empty={{
          icon: 'messages',
          title: text(filtered ? 'messages.noneFound' : 'messages.none'),
          hint: text(filtered ? noneFoundHint(filters) : 'messages.noneHint'),
          action: filtered ? (
            <SearchRecipients filters={filters} />
          ) : (
            <PageAnchor to="/$account/templates" params={{ account: accountId }}>
              {text('messages.toTemplates')}
            </PageAnchor>
          ),
        }}
      />
    </>
  );
}

/** Offers to search what was searched for in the recipients, if it can be part of an address. */
function SearchRecipients({ filters }: { filters: MessageFilters }) {
  const navigate = route.useNavigate();
  const { search } = filters;
  if (search === undefined || /\s/.test(search)) return null;
  return (
    <Button
      variant="light"
      onClick={() => navigate({ search: { ...filters, search: undefined, recipient: search } })}
    >
      {text('messages.searchRecipients', { text: search })}
    </Button>
  );
}

function noneFoundHint({ search }: MessageFilters) {
  return search === undefined ? 'messages.noneFoundHint' : 'messages.noneSearchedHint';
}

function exportUrl(accountId: string, filters: MessageFilters): string {
  const given = Object.entries(messageQuery(filters)).filter(([, value]) => value !== undefined);
  return `/manage/v1/accounts/${accountId}/messages-export?${new URLSearchParams(given as [string, string][])}`;
}
