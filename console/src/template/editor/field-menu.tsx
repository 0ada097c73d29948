import { ActionIcon, Menu } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Icon } from '../../components/icon.tsx';
import { text } from '../../texts/text.ts';
import { FieldDialog, type FieldTag, type InsertText } from './field-dialog.tsx';

interface FieldItemsProps {
  fields: readonly string[];
  insert: InsertText;
  /** Asks for a name. */
  ask: (tag: FieldTag) => void;
}

/** Keeps the menu within a landmark of the page. */
export const menuPlace = { target: '#main' };

/** Items of a menu under a title; a menu itself can't have text. */
export function MenuGroup({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset can't be a part of a menu
    <div role="group" aria-label={label}>
      <Menu.Label aria-hidden>{label}</Menu.Label>
      {children}
    </div>
  );
}

/** The items of a menu that insert fields and sections. */
export function FieldItems({ fields, insert, ask }: FieldItemsProps) {
  return (
    <>
      <MenuGroup label={text('editor.fields')}>
        {fields.map((name) => (
          <Menu.Item key={name} onClick={() => insert(`{{${name}}}`)} className="breakable">
            {name}
          </Menu.Item>
        ))}
        <Menu.Item onClick={() => ask('field')}>{text('editor.tag.field')}…</Menu.Item>
      </MenuGroup>
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
      <Menu
        position="bottom-end"
        portalProps={menuPlace}
        returnFocus={false}
        shadow="md"
        width={240}
      >
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
