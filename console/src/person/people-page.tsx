import '../message/event-texts.ts';
import '../settings/settings-texts.ts';
import { Button, Group, Space, Stack, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { ApiProblem } from '../api/problem.ts';
import { useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { EmptyState } from '../components/empty-state.tsx';
import type { ListBodyProps } from '../components/list-body.tsx';
import { LoadMore } from '../components/load-more.tsx';
import { Note } from '../components/note.tsx';
import { showNotice } from '../components/notices.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RemoveButton } from '../components/remove-button.tsx';
import { type Column, Rows } from '../components/rows.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { WholeSearch } from '../components/search-field.tsx';
import { listColumn } from '../list/lists-page.tsx';
import { messageLogColumns } from '../message/messages-page.tsx';
import { replyColumns } from '../reply/replies-page.tsx';
import { suppressionColumns } from '../suppression/suppressions-page.tsx';
import { text } from '../texts/text.ts';
import { readPersonFilter } from './person-filter.ts';

const route = getRouteApi('/$account/people');

/** All that an account has about an address, on one page. */
export function PeoplePage() {
  const { address } = readPersonFilter(route.useSearch());
  const navigate = route.useNavigate();
  return (
    <>
      <PageHeading title={address ?? text('nav.people')} hint={text('people.hint')}>
        {address !== undefined && <PersonData address={address} />}
      </PageHeading>
      <WholeSearch
        name={text('people.find')}
        maxLength={320}
        shown={address ?? ''}
        show={(typed) => navigate({ search: readPersonFilter({ address: typed }) })}
      />
      <Space h="lg" />
      {address === undefined ? (
        <EmptyState icon="lists" title={text('people.find')} hint={text('people.findHint')} />
      ) : (
        <Person key={address} address={address} />
      )}
    </>
  );
}

function Person({ address }: { address: string }) {
  const suppressions = useGet('/accounts/{accountId}/suppressions/{address}', {
    params: { address },
  });
  const messages = usePages('/accounts/{accountId}/messages', {
    query: { recipient: address, limit: 20 },
    refetchInterval: 10_000,
  });
  const replies = usePages('/accounts/{accountId}/replies', {
    query: { from: address, limit: 20 },
  });
  const seesContacts = useMay()('contacts:read');
  const lists = usePages('/accounts/{accountId}/lists', {
    query: { contact: address },
    enabled: seesContacts,
  });
  const parts = [suppressions, messages, replies, ...(seesContacts ? [lists] : [])];
  // At once, so that no part moves when another one arrives.
  if (parts.some(({ isPending }) => isPending)) return <RowsSkeleton />;
  const { error } = suppressions;
  const isFree = error instanceof ApiProblem && error.status === 404;
  const { to, subject, state, template, accepted } = messageLogColumns;
  return (
    <Stack gap="xl">
      <Part
        title={text('nav.suppressions')}
        pages={{
          ...suppressions,
          error: isFree ? null : error,
          items: isFree ? [] : (suppressions.data?.items ?? []),
        }}
        columns={suppressionColumns}
        idOf={({ reason }) => reason}
        none={text('people.notSuppressed')}
      />
      <Part
        title={text('nav.messages')}
        pages={messages}
        columns={[to, subject, state, template, accepted]}
        idOf={({ id }) => id}
        none={text('messages.none')}
      />
      <Part
        title={text('nav.replies')}
        pages={replies}
        columns={replyColumns}
        idOf={({ replyId }) => replyId}
        none={text('replies.none')}
      />
      {seesContacts && (
        <Part
          title={text('nav.lists')}
          pages={lists}
          columns={[listColumn]}
          idOf={({ id }) => id}
          none={text('people.onNoList')}
        />
      )}
    </Stack>
  );
}

interface PartProps<Item> {
  title: string;
  pages: ListBodyProps<Item>['pages'];
  columns: readonly Column<Item>[];
  idOf: (item: Item) => string;
  none: ReactNode;
}

function Part<Item>({ title, pages, columns, idOf, none }: PartProps<Item>) {
  return (
    <section>
      <Title order={2} mb="xs">
        {title}
      </Title>
      <ProblemAlert error={pages.error} retry={() => pages.refetch()} />
      {pages.error === null && pages.items.length === 0 && <Note size="sm">{none}</Note>}
      {pages.items.length > 0 && (
        <Rows label={title} items={pages.items} columns={columns} idOf={idOf} compact />
      )}
      <LoadMore pages={pages} />
    </section>
  );
}

/** Exports or erases all data about the address. */
function PersonData({ address }: { address: string }) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('messages', 'suppressions', 'replies', 'lists');
  if (!may('privacy:read')) return null;
  return (
    <Group gap="xs">
      <Button
        component="a"
        variant="default"
        href={`/manage/v1/accounts/${accountId}/people/${encodeURIComponent(address)}`}
        download
      >
        {text('privacy.export')}
      </Button>
      {may('privacy:write') && (
        <RemoveButton
          title={text('privacy.eraseTitle')}
          consequence={text('privacy.eraseConsequence')}
          name={address}
          action={text('privacy.erase')}
          remove={async () => {
            const { messages, contacts } = await api.delete(
              '/accounts/{accountId}/people/{address}',
              { accountId, address },
            );
            showNotice(text('privacy.erased', { messages, contacts }));
            await refresh();
          }}
        />
      )}
    </Group>
  );
}
