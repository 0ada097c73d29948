import { CloseButton, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { text } from '../texts/text.ts';
import { Icon } from './icon.tsx';

interface SearchFieldProps extends Omit<TextInputProps, 'onChange' | 'value' | 'label' | 'ref'> {
  ref?: RefObject<HTMLInputElement | null>;
  /** What it searches, shown while it is empty. */
  name: string;
  value: string;
  change: (value: string) => void;
}

/** A field that searches a list while the text is typed. */
export function SearchField({ ref, name, value, change, ...input }: SearchFieldProps) {
  const own = useRef<HTMLInputElement>(null);
  const field = ref ?? own;
  return (
    <TextInput
      ref={field}
      aria-label={name}
      placeholder={name}
      leftSection={<Icon name="search" size={16} />}
      rightSection={
        value !== '' && (
          <CloseButton
            size="sm"
            aria-label={text('clearSearch')}
            onClick={() => {
              change('');
              field.current?.focus();
            }}
          />
        )
      }
      {...input}
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

interface WholeSearchProps extends Omit<SearchFieldProps, 'value' | 'change'> {
  /** The text in the URL. */
  shown: string;
  /** Gets what was typed on Enter, and an empty text once the field is empty. */
  show: (text: string) => void;
}

/** A field that searches for a whole text, such as an address, on Enter. */
export function WholeSearch({ shown, show, ...field }: WholeSearchProps) {
  const [typed, setTyped] = useState(shown);
  useEffect(() => setTyped(shown), [shown]);
  return (
    <form
      className="message-search"
      onSubmit={(event) => {
        event.preventDefault();
        show(typed);
      }}
    >
      <SearchField
        {...field}
        value={typed}
        change={(value) => {
          setTyped(value);
          if (value === '') show('');
        }}
      />
    </form>
  );
}

/**
 * What is typed into a field that filters by the URL. It changes the URL after a pause; the menu and the browser's
 * history, which change the URL as well, change what is in the field, and end a pause.
 *
 * @param shown the text in the URL
 * @param show puts a text without surrounding spaces into the URL
 */
export function useTypedText(shown: string, show: (text: string) => void) {
  const [value, setValue] = useState(shown);
  const last = useRef(shown);
  const find = useDebouncedCallback((typed: string) => {
    last.current = typed;
    show(typed);
  }, 250);

  useEffect(() => {
    if (shown === last.current) return;
    last.current = shown;
    find.cancel();
    setValue(shown);
  }, [shown, find]);

  function change(typed: string) {
    setValue(typed);
    find(typed.trim());
  }
  return { value, change };
}
