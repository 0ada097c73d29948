import { CloseButton, Combobox, Text, TextInput, useCombobox } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Icon } from '../components/icon.tsx';
import { text } from '../texts/text.ts';
import { type MessageFilters, type NarrowFilter, narrowFiltersFor } from './message-filters.ts';

interface MessageSearchBoxProps {
  search: string;
  change: (part: MessageFilters) => void;
}

/** One box for everything: Enter searches all that messages are found by; the suggestions narrow it to one thing. */
export function MessageSearchBox({ search, change }: MessageSearchBoxProps) {
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
            <Text size="xs" c="dimmed">
              {text('messages.searchEnter')}
            </Text>
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
