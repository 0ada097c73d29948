import { type FormEvent, useReducer, useState } from 'react';
import { EditConflict } from '../api/if-unchanged.ts';
import { showNotice } from '../components/notices.tsx';
import { Edit, type SendEdit } from './edit.ts';
import { useUnsaved } from './unsaved.ts';

interface FormOptions<Stored, Values> {
  /** The resource as the page has it; undefined while it loads, or for a new one. */
  readonly stored: Stored;
  /** The fields of the form. */
  readonly toValues: (stored: Stored) => Values;
  readonly save: SendEdit<Stored, Values>;
  /** Says that it is saved. */
  readonly notice?: string;
  /** Reads what else shows the resource, after a save or a conflict. What was typed counts as saved before. */
  readonly reload?: () => Promise<unknown>;
}

/** The form of a stored resource; every form that edits one is made with this. */
export function useForm<Stored, Values extends object>(options: FormOptions<Stored, Values>) {
  const { stored, toValues, save, notice, reload } = options;
  const [, render] = useReducer((count: number) => count + 1, 0);
  const [edit] = useState(() => new Edit(stored, toValues, render));
  edit.follow(stored);
  useUnsaved(edit.isChanged);
  async function send(by = save): Promise<Stored> {
    try {
      const now = await edit.save(by);
      if (notice !== undefined) showNotice(notice);
      return now;
    } finally {
      // Other failures say of nothing that has changed.
      if (edit.error === null || edit.error instanceof EditConflict) await reload?.();
    }
  }
  return {
    values: edit.values,
    change: edit.change,
    reset: edit.reset,
    /** Whether something is unsaved. */
    changed: edit.isChanged(),
    /** The state at the time of its use, for functions that wait. */
    edit,
    /** The resource as it was last read for the form, or saved by it. */
    stored: edit.stored,
    saving: edit.isSaving,
    error: edit.error,
    save: send,
    /** For a `DialogForm`. */
    dialog: { submit: send, isChanged: edit.isChanged },
    /** For the `onSubmit` of an inline form, which shows the error. */
    submit(event: FormEvent) {
      event.preventDefault();
      if (!edit.isSaving) send().catch(() => undefined);
    },
  };
}
