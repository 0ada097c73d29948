import {
  Button,
  CloseButton,
  Combobox,
  Group,
  NativeSelect,
  Pill,
  TextInput,
  useCombobox,
} from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { choicesOf } from '../components/choices-of.ts';
import { Icon } from '../components/icon.tsx';
import { Note } from '../components/note.tsx';
import { text, textOr } from '../texts/text.ts';
import {
  type MessageFilters,
  messageModes,
  messagePeriods,
  type NarrowFilter,
  narrowFilters,
  narrowFiltersFor,
  readMessageFilters,
} from './message-filters.ts';
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
            ...choicesOf(shownStates, (state) => text(`state.${state}`)),
          ]}
        />
        <NativeSelect
          aria-label={text('messages.mode')}
          value={filters.mode ?? ''}
          onChange={(event) => change({ mode: event.currentTarget.value })}
          data={[
            { value: '', label: text('messages.anyMode') },
            ...choicesOf(messageModes, (mode) => text(`messages.mode.${mode}`)),
          ]}
        />
        <NativeSelect
          aria-label={text('messages.period')}
          value={filters.period ?? ''}
          onChange={(event) => change({ period: event.currentTarget.value })}
          data={[
            { value: '', label: text('messages.anyPeriod') },
            ...choicesOf(Object.keys(messagePeriods), (value) =>
              textOr(`messages.period.${value}`, value),
            ),
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

interface MessageSearchBoxProps {
  search: string;
  change: (part: MessageFilters) => void;
}

/** One box for everything: Enter searches all that messages are found by; the suggestions narrow it to one thing. */
function MessageSearchBox({ search, change }: MessageSearchBoxProps) {
  const [typed, setTyped] = useState(search);
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  // Pasted text often has surrounding spaces.
  const value = typed.trim();
  const suggested = narrowFiltersFor(value);

  function submit(event: FormEvent) {
    event.preventDefault();
    combobox.closeDropdown();
    change({ search: value });
  }

  function narrow(name: string) {
    combobox.closeDropdown();
    setTyped('');
    change({ search: '', [name as NarrowFilter]: value });
  }

  return (
    <form className="message-search" onSubmit={submit}>
      <Combobox store={combobox} onOptionSubmit={narrow}>
        <Combobox.Target>
          <TextInput
            aria-label={text('messages.search')}
            placeholder={text('messages.searchHint')}
            leftSection={<Icon name="search" size={16} />}
            rightSection={
              typed !== '' && (
                <CloseButton
                  size="sm"
                  aria-label={text('clearSearch')}
                  onClick={() => {
                    setTyped('');
                    change({ search: '' });
                  }}
                />
              )
            }
            value={typed}
            maxLength={320}
            onChange={(event) => {
              setTyped(event.currentTarget.value);
              combobox.openDropdown();
              combobox.resetSelectedOption();
            }}
            onBlur={() => combobox.closeDropdown()}
          />
        </Combobox.Target>
        <Combobox.Dropdown hidden={suggested.length === 0}>
          <Combobox.Header>
            <Note>{text('messages.searchEnter')}</Note>
          </Combobox.Header>
          <Combobox.Options aria-label={text('messages.search')}>
            {suggested.map((name) => (
              <Combobox.Option key={name} value={name}>
                {text(`messages.filter.${name}`)}: <strong>{value}</strong>
              </Combobox.Option>
            ))}
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
    </form>
  );
}
