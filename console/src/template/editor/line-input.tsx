import { TextInput, type TextInputProps } from '@mantine/core';
import { useRef } from 'react';
import { text } from '../../texts/text.ts';
import { FieldMenu } from './field-menu.tsx';

/** Sets the text direction on the input itself, so it doesn't affect the label. */
const ownDirection = { input: { dir: 'auto' } };

/** Keeps text in either direction clear of the menu. */
const ownPadding = { input: 'line-input' };

interface LineInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  label: string;
  value: string;
  change: (value: string) => void;
  fields: readonly string[];
}

/** A single-line input for text with fields, which a menu inserts at the cursor. */
export function LineInput({ value, change, fields, ...input }: LineInputProps) {
  const element = useRef<HTMLInputElement>(null);

  function insert(before: string, after = '') {
    const { selectionStart, selectionEnd } = element.current ?? {};
    const [start, end] = [selectionStart ?? value.length, selectionEnd ?? value.length];
    const selected = after === '' ? '' : value.slice(start, end);
    change(value.slice(0, start) + before + selected + after + value.slice(end));
    const cursor = start + before.length + selected.length;
    requestAnimationFrame(() => {
      element.current?.focus();
      element.current?.setSelectionRange(cursor, cursor);
    });
  }

  return (
    <TextInput
      {...input}
      ref={element}
      attributes={ownDirection}
      classNames={ownPadding}
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
      {...(input.readOnly !== true && {
        rightSection: (
          <FieldMenu
            label={text('editor.insertInto', { name: input.label })}
            fields={fields}
            insert={insert}
          />
        ),
      })}
    />
  );
}
