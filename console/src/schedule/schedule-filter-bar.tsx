import { Button, Group, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Icon } from '../components/icon.tsx';
import { text } from '../texts/text.ts';
import { readScheduleFilters, type ScheduleFilters } from './schedule-filters.ts';

interface FilterBarProps {
  filters: ScheduleFilters;
  change: (filters: ScheduleFilters) => void;
}

/** Filters by tag and external ID, applied on Enter. */
export function ScheduleFilterBar({ filters, change }: FilterBarProps) {
  const [tag, setTag] = useState(filters.tag ?? '');
  const [externalId, setExternalId] = useState(filters.externalId ?? '');

  function submit(event: FormEvent) {
    event.preventDefault();
    change(readScheduleFilters({ tag, externalId }));
  }

  return (
    <search>
      <form onSubmit={submit}>
        <Group mb="md" gap="xs" align="flex-end">
          <TextInput
            label={text('messages.tag')}
            maxLength={48}
            value={tag}
            onChange={(event) => setTag(event.currentTarget.value)}
          />
          <TextInput
            label={text('messages.externalId')}
            maxLength={128}
            value={externalId}
            onChange={(event) => setExternalId(event.currentTarget.value)}
          />
          <Button type="submit" variant="light" leftSection={<Icon name="search" size={16} />}>
            {text('schedule.search')}
          </Button>
          {Object.keys(filters).length > 0 && (
            <Button variant="subtle" onClick={() => change({})}>
              {text('schedule.clear')}
            </Button>
          )}
        </Group>
      </form>
    </search>
  );
}
