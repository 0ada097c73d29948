import '../template/editor-texts.ts';
import { Textarea, type TextareaProps } from '@mantine/core';
import { useState } from 'react';
import { text } from '../texts/text.ts';

interface JsonAreaProps extends Omit<TextareaProps, 'value' | 'onChange' | 'error'> {
  /** Undefined: an empty field. */
  value: unknown;
  /** Called with what was typed, once it is JSON. */
  change: (value: unknown) => void;
}

/** A multi-line field for JSON. What isn't JSON yet stays in the field and changes nothing. */
export function JsonArea({ value, change, ...input }: JsonAreaProps) {
  const [typed, setTyped] = useState<string>();
  const shown = typed ?? (value === undefined ? '' : JSON.stringify(value, null, 2));
  return (
    <Textarea
      autosize
      minRows={2}
      maxRows={12}
      spellCheck={false}
      {...input}
      value={shown}
      error={parse(shown).ok ? undefined : text('editor.notJson')}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        const parsed = parse(event.currentTarget.value);
        if (parsed.ok) change(parsed.value);
      }}
      onBlur={() => {
        if (parse(shown).ok) setTyped(undefined);
      }}
    />
  );
}

function parse(typed: string): { readonly ok: boolean; readonly value?: unknown } {
  if (typed.trim() === '') return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(typed) };
  } catch {
    return { ok: false };
  }
}
