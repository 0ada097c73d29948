import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Icon } from '../components/icon.tsx';
import { text, textOr } from '../texts/text.ts';
import { type MessageFilters, messagePeriods, readMessageFilters } from './message-filters.ts';
import { shownStates } from './message-states.ts';

const route = getRouteApi('/$account/messages');

/** Updates the filters in the URL: selections immediately, text on Enter. */
export function MessageFilterBar() {
  const filters = readMessageFilters(route.useSearch());
  const navigate = route.useNavigate();
  // Empty fields are removed from the URL.
  const change = (part: MessageFilters) =>
    navigate({ search: readMessageFilters({ ...filters, ...part }), replace: true });

  return (
    <Group component="search" mb="md" gap="xs" align="flex-end">
      <NativeSelect
        label={text('messages.state')}
        w={124}
        value={filters.state ?? ''}
        onChange={(event) => change({ state: event.currentTarget.value })}
        data={[
          { value: '', label: text('messages.anyState') },
          ...shownStates.map((state) => ({
            value: state,
            label: text(`state.${state}`),
          })),
        ]}
      />
      <NativeSelect
        label={text('messages.period')}
        w={158}
        value={filters.period ?? ''}
        onChange={(event) => change({ period: event.currentTarget.value })}
        data={[
          { value: '', label: text('messages.anyPeriod') },
          ...Object.keys(messagePeriods).map((value) => ({
            value,
            label: textOr(`messages.period.${value}`, value),
          })),
        ]}
      />
      <TextFilters
        // Syncs the fields with the URL, which also changes through the back button.
        key={textFilterNames.map((name) => filters[name]).join(' ')}
        filters={filters}
        change={change}
      />
      {Object.keys(filters).length > 0 && (
        <Button variant="subtle" onClick={() => navigate({ search: {}, replace: true })}>
          {text('messages.clear')}
        </Button>
      )}
    </Group>
  );
}

const textFilterNames = [
  'recipient',
  'templateId',
  'tag',
  'locale',
  'externalId',
  'attribute',
] as const;

function TextFilters(props: { filters: MessageFilters; change: (part: MessageFilters) => void }) {
  const [typed, setTyped] = useState<MessageFilters>(() =>
    Object.fromEntries(textFilterNames.map((name) => [name, props.filters[name] ?? ''])),
  );
  function submit(event: FormEvent) {
    event.preventDefault();
    // Pasted text often has surrounding spaces.
    props.change(
      Object.fromEntries(
        textFilterNames.map((name) => [name, typed[name]?.trim()]),
      ) as MessageFilters,
    );
  }
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="flex-end">
        {textFilterNames.map((name) => (
          <TextInput
            key={name}
            label={text(`messages.filter.${name}`)}
            placeholder={name === 'attribute' ? text('messages.filter.attributeHint') : undefined}
            value={typed[name] ?? ''}
            onChange={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
            w={name === 'recipient' ? 176 : 116}
          />
        ))}
        <Button type="submit" variant="light" leftSection={<Icon name="search" size={16} />}>
          {text('messages.search')}
        </Button>
      </Group>
    </form>
  );
}
