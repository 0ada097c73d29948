import './audit-texts.ts';
import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { answerOf, api } from '../api/management.ts';
import { Icon } from '../components/icon.tsx';
import { text } from '../texts/text.ts';
import { type AuditFilters, type FilteredThing, shownThings } from './audit-filters.ts';

interface AuditFilterBarProps {
  filters: AuditFilters;
  change: (filters: Partial<Record<keyof AuditFilters, string>>) => void;
}

const maxPeople = 500;

/** Fixed, so that nothing moves when the people are loaded. */
const selectWidth = { base: 'calc(50% - 5px)', xs: 200 };

/** Filters by free text, person, thing and period. */
export function AuditFilterBar({ filters, change }: AuditFilterBarProps) {
  const accountId = useAccountId();
  const may = useMay();
  const [typed, setTyped] = useState(filters.search ?? '');
  const find = useDebouncedCallback((search: string) => change({ search }), 250);
  const users = useQuery({
    queryKey: ['users', accountId, 'audit'],
    queryFn: () =>
      answerOf(
        api.GET('/accounts/{accountId}/users', {
          params: { path: { accountId }, query: { limit: maxPeople } },
        }),
      ),
    enabled: may('users:read'),
    staleTime: 60_000,
  });
  const people = (users.data?.items ?? []).map(({ email, name }) => ({
    value: email,
    label: name === '' ? email : `${name} (${email})`,
  }));
  // Someone who has left the account can still be chosen through a link.
  const { person } = filters;
  if (person !== undefined && people.every(({ value }) => value !== person))
    people.push({ value: person, label: person });

  return (
    <Group component="search" mb="md" gap="xs" align="flex-end">
      <TextInput
        className="grow"
        label={text('audit.search')}
        placeholder={text('audit.searchHint')}
        leftSection={<Icon name="search" size={16} />}
        maxLength={200}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          find(event.currentTarget.value.trim());
        }}
      />
      <NativeSelect
        label={text('audit.person')}
        w={selectWidth}
        value={person ?? ''}
        onChange={(event) => change({ person: event.currentTarget.value })}
        data={[{ value: '', label: text('audit.anyone') }, ...people]}
      />
      <NativeSelect
        label={text('audit.thing')}
        w={selectWidth}
        value={filters.thing ?? ''}
        onChange={(event) => change({ thing: event.currentTarget.value as FilteredThing })}
        data={[
          { value: '', label: text('audit.anything') },
          ...shownThings.map((value) => ({ value, label: text(`audit.thing.${value}`) })),
        ]}
      />
      {(['from', 'until'] as const).map((name) => (
        <TextInput
          key={name}
          type="date"
          label={text(`audit.${name}`)}
          value={filters[name] ?? ''}
          onChange={(event) => change({ [name]: event.currentTarget.value })}
        />
      ))}
      {Object.keys(filters).length > 0 && (
        <Button
          variant="subtle"
          onClick={() => {
            setTyped('');
            change({ search: '', person: '', thing: '', from: '', until: '' });
          }}
        >
          {text('messages.clear')}
        </Button>
      )}
    </Group>
  );
}
