import './audit-texts.ts';
import { Box, Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { SearchField } from '../components/search-field.tsx';
import { text, textOr } from '../texts/text.ts';
import {
  type AuditFilters,
  auditPeriods,
  type FilteredThing,
  shownThings,
} from './audit-filters.ts';

interface AuditFilterBarProps {
  filters: AuditFilters;
  change: (filters: Partial<Record<keyof AuditFilters, string>>) => void;
}

const maxPeople = 500;

/** Fixed, so that nothing moves when the people are loaded. */
const selectWidth = { base: 'calc(50% - 5px)', xs: 146 };

/** Filters by free text, person, thing and period. */
export function AuditFilterBar({ filters, change }: AuditFilterBarProps) {
  const accountId = useAccountId();
  const may = useMay();
  const [typed, setTyped] = useState(filters.search ?? '');
  const [custom, setCustom] = useState(false);
  const isCustom = custom || filters.from !== undefined || filters.until !== undefined;
  const find = useDebouncedCallback((search: string) => change({ search }), 250);
  const users = useQuery({
    queryKey: ['users', accountId, 'audit'],
    queryFn: () => api.get('/accounts/{accountId}/users', { accountId }, { limit: maxPeople }),
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
    <Box component="search" display="block" mb="md">
      <Group gap="xs" align="flex-end">
        <SearchField
          className="grow"
          name={text('audit.search')}
          maxLength={200}
          value={typed}
          change={(value) => {
            setTyped(value);
            find(value.trim());
          }}
        />
        <NativeSelect
          aria-label={text('audit.person')}
          w={selectWidth}
          value={person ?? ''}
          onChange={(event) => change({ person: event.currentTarget.value })}
          data={[{ value: '', label: text('audit.anyone') }, ...people]}
        />
        <NativeSelect
          aria-label={text('audit.thing')}
          w={selectWidth}
          value={filters.thing ?? ''}
          onChange={(event) => change({ thing: event.currentTarget.value as FilteredThing })}
          data={[
            { value: '', label: text('audit.anything') },
            ...shownThings.map((value) => ({ value, label: text(`audit.thing.${value}`) })),
          ]}
        />
        <NativeSelect
          aria-label={text('audit.at')}
          w={selectWidth}
          value={isCustom ? 'custom' : (filters.period ?? '')}
          onChange={(event) => {
            const { value } = event.currentTarget;
            setCustom(value === 'custom');
            change({ period: value === 'custom' ? '' : value, from: '', until: '' });
          }}
          data={[
            { value: '', label: text('messages.anyPeriod') },
            ...Object.keys(auditPeriods).map((value) => ({
              value,
              label: textOr(`messages.period.${value}`, value),
            })),
            { value: 'custom', label: text('audit.customPeriod') },
          ]}
        />
        {isCustom &&
          (['from', 'until'] as const).map((name) => (
            <TextInput
              key={name}
              type="date"
              label={text(`audit.${name}`)}
              value={filters[name] ?? ''}
              onChange={(event) => change({ [name]: event.currentTarget.value })}
            />
          ))}
      </Group>
      {Object.keys(filters).length > 0 && (
        <Group mt="xs">
          <Button
            className="clear-filters"
            variant="subtle"
            size="compact-sm"
            onClick={() => {
              setTyped('');
              setCustom(false);
              change({ search: '', person: '', thing: '', period: '', from: '', until: '' });
            }}
          >
            {text('messages.clear')}
          </Button>
        </Group>
      )}
    </Box>
  );
}
