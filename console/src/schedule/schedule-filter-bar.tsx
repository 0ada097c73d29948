import { CloseButton, Group } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { SearchField } from '../components/search-field.tsx';
import { text } from '../texts/text.ts';
import { readScheduleFilters, type ScheduleFilters } from './schedule-filters.ts';

interface FilterBarProps {
  filters: ScheduleFilters;
  change: (filters: ScheduleFilters) => void;
  /** What can be done with the messages that match. */
  children?: ReactNode;
}

/** Filters by tag and external ID, while they are typed. */
export function ScheduleFilterBar({ filters, change, children }: FilterBarProps) {
  const { tag = '', externalId = '' } = filters;
  const [typed, setTyped] = useState({ tag, externalId });
  const find = useDebouncedCallback((now: typeof typed) => change(readScheduleFilters(now)), 250);

  function type(now: typeof typed) {
    setTyped(now);
    find(now);
  }

  const field = (name: 'tag' | 'externalId') => ({
    name: text(`messages.${name}`),
    value: typed[name],
    change: (value: string) => type({ ...typed, [name]: value }),
    w: 150,
    rightSection: typed[name] !== '' && (
      <CloseButton
        size="sm"
        aria-label={text('messages.removeFilter', { name: text(`messages.${name}`) })}
        onClick={() => type({ ...typed, [name]: '' })}
      />
    ),
  });
  return (
    <Group component="search" mb="md" gap="xs">
      <SearchField {...field('tag')} maxLength={48} />
      <SearchField {...field('externalId')} maxLength={128} />
      {children}
    </Group>
  );
}
