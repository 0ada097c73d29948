import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useId, useState } from 'react';
import { text } from '../../texts/text.ts';

/** What is inserted: a field, or a section that depends on one. */
export type FieldTag = 'field' | 'filled' | 'empty';

/** @param after follows the selection */
export type InsertText = (before: string, after?: string) => void;

interface FieldDialogProps {
  /** Undefined: closed. */
  tag: FieldTag | undefined;
  close: () => void;
  fields: readonly string[];
  insert: InsertText;
}

/** Asks for the name of a field and inserts a tag with it. */
export function FieldDialog({ tag, close, fields, insert }: FieldDialogProps) {
  return (
    <Modal
      opened={tag !== undefined}
      onClose={close}
      returnFocus={false}
      title={text(`editor.tag.${tag ?? 'field'}`)}
    >
      <FieldForm tag={tag ?? 'field'} close={close} fields={fields} insert={insert} />
    </Modal>
  );
}

function FieldForm({ tag, close, fields, insert }: FieldDialogProps & { tag: FieldTag }) {
  const [typed, setTyped] = useState('');
  const names = useId();
  const name = typed.trim();
  const problem = /[{}]/.test(name) ? text('editor.badFieldName') : undefined;

  function submit(event: FormEvent) {
    event.preventDefault();
    if (problem !== undefined) return;
    close();
    insertTag(tag, name, insert);
  }

  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={text('editor.fieldName')}
          description={text(`editor.tagHint.${tag}`)}
          required
          maxLength={120}
          list={names}
          value={typed}
          error={problem}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
        />
        <datalist id={names}>
          {fields.map((field) => (
            <option key={field} value={field} />
          ))}
        </datalist>
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {text('cancel')}
          </Button>
          <Button type="submit">{text('editor.insert')}</Button>
        </Group>
      </Stack>
    </form>
  );
}

function insertTag(tag: FieldTag, name: string, insert: InsertText): void {
  if (tag === 'field') insert(`{{${name}}}`);
  else insert(`{{${tag === 'filled' ? '#' : '^'}${name}}}`, `{{/${name}}}`);
}
