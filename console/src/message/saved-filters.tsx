import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { SavedFilter } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { useAction } from '../api/use-action.ts';
import { useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { FormDialog } from '../components/form-dialog.tsx';
import { PageAnchor } from '../components/links.tsx';
import { showNotice } from '../components/notices.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { text } from '../texts/text.ts';
import type { MessageFilters } from './message-filters.ts';

interface FiltersProps {
  filters: MessageFilters;
}

const maxNameLength = 60;

function useSavedFilters() {
  return useGet('/accounts/{accountId}/saved-filters', { staleTime: 60_000 });
}

/** Links to the filters that the person has saved; nothing if there are none. */
export function SavedFilters({ filters }: FiltersProps) {
  const account = useAccountId();
  const items = useSavedFilters().data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <Group component="nav" gap={6} mb="sm" aria-label={text('messages.saved')}>
      <ViewLink account={account} name={text('messages.all')} query={{}} filters={filters} />
      {items.map(({ name, query }) => (
        <ViewLink key={name} account={account} name={name} query={query} filters={filters} />
      ))}
    </Group>
  );
}

function ViewLink(props: FiltersProps & { account: string; name: string; query: MessageFilters }) {
  const active = isSame(props.query, props.filters);
  return (
    <PageAnchor
      to="/$account/messages"
      search={props.query}
      className="view-link"
      data-active={active || undefined}
      aria-current={active ? 'true' : undefined}
      underline="never"
    >
      {props.name}
    </PageAnchor>
  );
}

function isSame(one: MessageFilters, other: MessageFilters): boolean {
  const entries = (filters: MessageFilters) => JSON.stringify(Object.entries(filters).sort());
  return entries(one) === entries(other);
}

/** Saves the filters under a name, or deletes them if they are saved. */
export function SavedFilterAction({ filters }: FiltersProps) {
  const items = useSavedFilters().data?.items;
  const dialog = useDialog();
  if (items === undefined) return null;
  const saved = items.find(({ query }) => isSame(query, filters));
  if (saved !== undefined) return <DeleteFilter filter={saved} />;
  return (
    <>
      <Button variant="subtle" size="compact-sm" onClick={dialog.open}>
        {text('messages.saveFilter')}
      </Button>
      <SaveDialog {...dialog.props} filters={filters} />
    </>
  );
}

function useSave() {
  const accountId = useAccountId();
  const refresh = useRefresh('saved-filters');
  return async (name: string, filters: MessageFilters) => {
    await api.put(
      '/accounts/{accountId}/saved-filters/{filterName}',
      { accountId, filterName: name },
      { query: filters as SavedFilter['query'] },
    );
    await refresh();
  };
}

function DeleteFilter({ filter: { name, query } }: { filter: SavedFilter }) {
  const accountId = useAccountId();
  const refresh = useRefresh('saved-filters');
  const save = useSave();
  const remove = useAction({
    mutationFn: () =>
      api.delete('/accounts/{accountId}/saved-filters/{filterName}', {
        accountId,
        filterName: name,
      }),
    async onSuccess() {
      showNotice(text('messages.savedDeleted', { name }), () => save(name, query));
      await refresh();
    },
  });
  return (
    <>
      <Button
        variant="subtle"
        size="compact-sm"
        c="dimmed"
        fw={400}
        ml="auto"
        mr={-8}
        loading={remove.isPending}
        onClick={() => remove.mutate()}
      >
        {text('messages.deleteSaved')}
      </Button>
      <ProblemAlert error={remove.error} />
    </>
  );
}

function SaveDialog({ filters, ...dialog }: FiltersProps & { opened: boolean; close: () => void }) {
  const [name, setName] = useState('');
  const save = useSave();
  return (
    <FormDialog
      {...dialog}
      title={text('messages.saveTitle')}
      action={text('messages.save')}
      submit={async () => {
        await save(name.trim(), filters);
        setName('');
      }}
    >
      {(error) => (
        <TextInput
          label={text('messages.filterName')}
          description={text('messages.saveHint')}
          required
          maxLength={maxNameLength}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={reasonFor(error, 'filterName')}
        />
      )}
    </FormDialog>
  );
}
