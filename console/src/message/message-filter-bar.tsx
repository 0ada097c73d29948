import { Button, Group, NativeSelect, Pill } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { text, textOr } from '../texts/text.ts';
import {
  type MessageFilters,
  messagePeriods,
  narrowFilters,
  readMessageFilters,
} from './message-filters.ts';
import { MessageSearchBox } from './message-search-box.tsx';
import { shownStates } from './message-states.ts';
import { SavedFilterAction, SavedFilters } from './saved-filters.tsx';

const route = getRouteApi('/$account/messages');

/** Updates the filters in the URL: one box for everything, state and period, and what a person has saved. */
export function MessageFilterBar() {
  const filters = readMessageFilters(route.useSearch());
  const navigate = route.useNavigate();
  // Empty fields are removed from the URL.
  const change = (part: MessageFilters) =>
    navigate({ search: readMessageFilters({ ...filters, ...part }), replace: true });
  const chips = narrowFilters.filter((name) => filters[name] !== undefined);

  return (
    <search className="message-filters">
      <SavedFilters filters={filters} />
      <Group gap="xs">
        <MessageSearchBox
          // Syncs the box with the URL, which also changes through the back button.
          key={filters.search ?? ''}
          search={filters.search ?? ''}
          change={change}
        />
        <NativeSelect
          aria-label={text('messages.state')}
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
          aria-label={text('messages.period')}
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
      </Group>
      {Object.keys(filters).length > 0 && (
        <Group gap="xs" mt="xs">
          {chips.map((name) => (
            <Pill
              key={name}
              size="md"
              withRemoveButton
              onRemove={() => change({ [name]: '' })}
              removeButtonProps={{
                'aria-label': text('messages.removeFilter', {
                  name: text(`messages.filter.${name}`),
                }),
                'aria-hidden': false,
                tabIndex: 0,
              }}
            >
              {text(`messages.filter.${name}`)}: <strong>{filters[name]}</strong>
            </Pill>
          ))}
          <Button
            className="clear-filters"
            variant="subtle"
            size="compact-sm"
            onClick={() => navigate({ search: {}, replace: true })}
          >
            {text('messages.clear')}
          </Button>
          <SavedFilterAction filters={filters} />
        </Group>
      )}
    </search>
  );
}
