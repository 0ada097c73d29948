import { TextInput, type TextInputProps } from '@mantine/core';
import { Icon } from './icon.tsx';

interface SearchFieldProps extends Omit<TextInputProps, 'onChange' | 'value' | 'label'> {
  /** What it searches, shown while it is empty. */
  name: string;
  value: string;
  change: (value: string) => void;
}

/** A field that searches a list while the text is typed. */
export function SearchField({ name, change, ...input }: SearchFieldProps) {
  return (
    <TextInput
      aria-label={name}
      placeholder={name}
      leftSection={<Icon name="search" size={16} />}
      {...input}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
