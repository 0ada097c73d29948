import { Button, CloseButton, Group, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { text } from '../texts/text.ts';
import { readScheduleFilters, type ScheduleFilters } from './schedule-filters.ts';

interface FilterBarProps {
  filters: ScheduleFilters;
  change: (filters: ScheduleFilters) => void;
  /** Undefined: there is nothing to clear, or it is offered elsewhere. */
  clear: (() => void) | undefined;
}

/** Filters by tag and external ID, while they are typed. */
export function ScheduleFilterBar({ filters, change, clear }: FilterBarProps) {
  const { tag = '', externalId = '' } = filters;
  const [typed, setTyped] = useState({ tag, externalId });
  const find = useDebouncedCallback((now: typeof typed) => change(readScheduleFilters(now)), 250);

  function type(now: typeof typed) {
    setTyped(now);
    find(now);
  }

  const field = (name: 'tag' | 'externalId') => ({
    label: text(`messages.${name}`),
    value: typed[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      type({ ...typed, [name]: event.currentTarget.value }),
    className: 'schedule-filter',
    rightSection: typed[name] !== '' && (
      <CloseButton
        size="sm"
        aria-label={text('messages.removeFilter', { name: text(`messages.${name}`) })}
        onClick={() => type({ ...typed, [name]: '' })}
      />
    ),
  });
  return (
    <Group component="search" mb="md" gap="sm" align="flex-end">
      <TextInput {...field('tag')} placeholder={text('schedule.anyTag')} maxLength={48} />
      <TextInput {...field('externalId')} placeholder={text('schedule.anyId')} maxLength={128} />
      {clear !== undefined && (
        <Button variant="subtle" px="xs" className="schedule-clear" onClick={clear}>
          {text('schedule.clear')}
        </Button>
      )}
    </Group>
  );
}
