import { Button, Group, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { text } from '../texts/text.ts';
import { readScheduleFilters, type ScheduleFilters } from './schedule-filters.ts';

interface FilterBarProps {
  filters: ScheduleFilters;
  change: (filters: ScheduleFilters) => void;
}

/** Filters by tag and external ID, while they are typed. */
export function ScheduleFilterBar({ filters, change }: FilterBarProps) {
  const { tag = '', externalId = '' } = filters;
  const [typed, setTyped] = useState({ tag, externalId });
  const find = useDebouncedCallback((now: typeof typed) => change(readScheduleFilters(now)), 250);
  const field = (name: 'tag' | 'externalId') => ({
    label: text(`messages.${name}`),
    value: typed[name],
    onChange(event: { currentTarget: { value: string } }) {
      const now = { ...typed, [name]: event.currentTarget.value };
      setTyped(now);
      find(now);
    },
  });
  return (
    <Group component="search" mb="md" gap="xs" align="flex-end">
      <TextInput {...field('tag')} maxLength={48} />
      <TextInput {...field('externalId')} maxLength={128} />
      {Object.keys(filters).length > 0 && (
        <Button
          variant="subtle"
          onClick={() => {
            setTyped({ tag: '', externalId: '' });
            change({});
          }}
        >
          {text('schedule.clear')}
        </Button>
      )}
    </Group>
  );
}
