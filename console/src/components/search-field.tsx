import { CloseButton, TextInput, type TextInputProps } from '@mantine/core';
import { type RefObject, useRef } from 'react';
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
