import '../template/editor-texts.ts';
import { Textarea, type TextareaProps } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { localProblem } from '../api/problem.ts';
import { text } from '../texts/text.ts';

interface JsonAreaProps extends Omit<TextareaProps, 'value' | 'onChange' | 'error'> {
  /** Undefined: an empty field. */
  value: unknown;
  /** Called with what was typed, once it is JSON. */
  change: (value: unknown) => void;
}

/**
 * A multi-line field for JSON. What isn't JSON yet stays in the field and changes nothing: the field is invalid to the browser, which
 * then submits no form with it. What is saved without a form calls `requireValidJson`.
 */
export function JsonArea({ value, change, ...input }: JsonAreaProps) {
  const [typed, setTyped] = useState<string>();
  const shown = typed ?? (value === undefined ? '' : JSON.stringify(value, null, 2));
  const { ok } = parse(shown);
  const error = ok ? undefined : text('editor.notJson');
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.setCustomValidity(error ?? ''), [error]);
  return (
    <Textarea
      ref={area}
      data-json
      autosize
      minRows={2}
      maxRows={12}
      spellCheck={false}
      {...input}
      value={shown}
      error={error}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        const parsed = parse(event.currentTarget.value);
        if (parsed.ok) change(parsed.value);
      }}
      onBlur={() => {
        if (ok) setTyped(undefined);
      }}
    />
  );
}

/** @throws ApiProblem if a field of the page has something else than JSON, which gets the focus */
export function requireValidJson(): void {
  const invalid = document.querySelector<HTMLTextAreaElement>('[data-json]:invalid');
  invalid?.focus();
  if (invalid !== null) throw localProblem(invalid.name, text('editor.notJson'));
}

function parse(typed: string): { readonly ok: boolean; readonly value?: unknown } {
  if (typed.trim() === '') return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(typed) };
  } catch {
    return { ok: false };
  }
}
