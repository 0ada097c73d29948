import { ActionIcon, Menu } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../components/icon.tsx';
import { text } from '../../texts/text.ts';
import { FieldDialog, type FieldTag, type InsertText } from './field-dialog.tsx';

interface FieldItemsProps {
  fields: readonly string[];
  insert: InsertText;
  /** Asks for a name. */
  ask: (tag: FieldTag) => void;
}

/** The items of a menu that insert fields and sections. */
export function FieldItems({ fields, insert, ask }: FieldItemsProps) {
  return (
    <>
      <Menu.Label>{text('editor.fields')}</Menu.Label>
      {fields.map((name) => (
        <Menu.Item key={name} onClick={() => insert(`{{${name}}}`)} className="breakable">
          {name}
        </Menu.Item>
      ))}
      <Menu.Item onClick={() => ask('field')}>{text('editor.tag.field')}…</Menu.Item>
      <Menu.Divider />
      <Menu.Item onClick={() => ask('filled')}>{text('editor.tag.filled')}…</Menu.Item>
      <Menu.Item onClick={() => ask('empty')}>{text('editor.tag.empty')}…</Menu.Item>
    </>
  );
}

interface FieldMenuProps {
  label: string;
  fields: readonly string[];
  insert: InsertText;
}

/** A small menu next to a single-line input. */
export function FieldMenu({ label, fields, insert }: FieldMenuProps) {
  const [asked, ask] = useState<FieldTag>();
  return (
    <>
      <Menu position="bottom-end" withinPortal returnFocus={false} shadow="md" width={240}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={label}>
            <Icon name="braces" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown mah={360} className="scrolls">
          <FieldItems fields={fields} insert={insert} ask={ask} />
        </Menu.Dropdown>
      </Menu>
      <FieldDialog tag={asked} close={() => ask(undefined)} fields={fields} insert={insert} />
    </>
  );
}
